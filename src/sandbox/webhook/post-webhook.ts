import { lookup } from "node:dns";
import { type LookupFunction } from "node:net";
import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { anySignal } from "../../shared/with-timeout.js";
import { isLoopback } from "../../shared/is-loopback.js";
import { type Delivery } from "../state/delivery.js";

const maxResponseBytes = 64 * 1024;

type RawRequest = { headers: Record<string, string>; rawBody: Buffer };

/** Sends one POST, and returns the response or the error. Follows no redirects. Never rejects. */
export async function postWebhook(
  url: string,
  webhook: RawRequest,
  limits: { timeoutMs: number; closing: AbortSignal; allowRemote: boolean; keepsBody: boolean },
): Promise<Pick<Delivery, "status" | "responseHeaders" | "responseBody" | "error">> {
  const { timeoutMs, closing, allowRemote, keepsBody } = limits;
  const timeout = AbortSignal.timeout(timeoutMs);
  const { signal, release } = anySignal([timeout, closing]);
  try {
    const response = await post(url, webhook, { signal, lookup: allowRemote ? undefined : lookUpHere });
    const responseBody = await readResponseText(response);
    const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    const answer = { status: response.statusCode!, responseHeaders: Object.fromEntries(headers) };
    return { ...answer, ...(keepsBody && { responseBody }) };
  } catch (error) {
    if (closing.aborted) return { error: "the sandbox was closed" };
    if (timeout.aborted) return { error: `no answer within ${timeoutMs} ms` };
    return { error: failureReason(error) };
  } finally {
    release();
  }
}

/** Posts on a new connection. The merchant's server may have closed a connection that `fetch` kept open. */
function post(
  url: string,
  { headers, rawBody }: RawRequest,
  options: RequestOptions,
): Promise<IncomingMessage> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  const sized = { ...headers, "Content-Length": String(rawBody.length) };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", agent: false, headers: sized, ...options });
    outgoing.on("response", resolve).on("error", reject).end(rawBody);
  });
}

/** Resolves a name of this machine. Fails if a name server gives the address of another machine. */
const lookUpHere: LookupFunction = (name, options, done) => {
  lookup(name, options, (error, found, family) => {
    const addresses = [found ?? []].flat().map((each) => (typeof each === "string" ? each : each.address));
    const other = addresses.find((address) => !isLoopback(address));
    const refused = other !== undefined && new Error(`${name} leads to ${other}, not to this machine`);
    done(error ?? (refused || null), found, family);
  });
};

async function readResponseText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (length < maxResponseBytes) chunks.push(chunk.subarray(0, maxResponseBytes - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // For a host name with several addresses, Node's error has an empty message and a code.
  return error.message || ("code" in error ? String(error.code) : error.name);
}
