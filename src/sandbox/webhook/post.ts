import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";

/** How an endpoint answered. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** As text, at most 64 KiB of it. */
  body: string;
}

const longestAnswer = 64 * 1024;

/**
 * One POST on a connection of its own, never following a redirect. (`fetch` keeps connections open, and one that
 * the merchant's server closed in between would look like a failed webhook.)
 */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: Buffer,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const outgoing = send(url, {
      method: "POST",
      agent: false,
      headers: { ...headers, "Content-Length": String(body.length) },
      signal,
    });
    outgoing.on("response", resolve).on("error", reject).end(body);
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (length < longestAnswer) chunks.push(chunk.subarray(0, longestAnswer - length));
    length += chunk.length;
  }
  return {
    status: response.statusCode!,
    headers: plain(response),
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function plain({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
