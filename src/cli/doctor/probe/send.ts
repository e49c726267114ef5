import { request as requestHttp, type IncomingHttpHeaders } from "node:http";
import { request as requestHttps } from "node:https";
import { setTimeout as delay } from "node:timers/promises";

/** What came back. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Its first 64 KiB. */
  body: string;
  /** The middle between the sending and the first byte of the answer, in milliseconds since 1970. */
  atMs: number;
}

/** Why nothing came back. */
export interface Failure {
  failure: "unreachable" | "certificate" | "timeout" | "broken";
  /** The code of Node's error, or its message. */
  reason: string;
}

export type Reply = Answer | Failure;

export interface Probe {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Sends the body in two halves with this pause between them. */
  pauseMs?: number;
  /** The clock. */
  now: () => Date;
}

const timeoutMs = 8000;
const mostBytes = 64 * 1024;

/** Sends one request. Follows no redirect, keeps no connection, and never rejects. */
export async function send(address: string, probe: Probe): Promise<Reply> {
  try {
    return await exchange(new URL(address), probe);
  } catch (error) {
    return failureOf(error as NodeJS.ErrnoException);
  }
}

function exchange(
  url: URL,
  { method = "POST", headers = {}, body = "", pauseMs, now }: Probe,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs + (pauseMs ?? 0)),
      headers: {
        "User-Agent": "tillkit-doctor",
        ...(method === "POST" && { "Content-Length": bytes.length }),
        ...headers,
      },
    });
    const sentAt = now().getTime();
    request.on("response", (response) => {
      const atMs = (sentAt + now().getTime()) / 2;
      const chunks: Buffer[] = [];
      let length = 0;
      const answer = (): void => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, atMs });
        request.destroy();
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > mostBytes) answer();
      });
      response.on("end", answer);
      // What was said before the connection broke is an answer all the same.
      response.on("error", answer);
    });
    request.on("error", reject);
    if (pauseMs === undefined) request.end(bytes);
    else void sendSlowly(request, bytes, pauseMs);
  });
}

async function sendSlowly(
  request: { write(chunk: Buffer): unknown; end(chunk: Buffer): unknown },
  bytes: Buffer,
  pauseMs: number,
): Promise<void> {
  const half = Math.floor(bytes.length / 2);
  request.write(bytes.subarray(0, half));
  await delay(pauseMs);
  request.end(bytes.subarray(half));
}

const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT)/;
const unreachableCodes = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EACCES)$/;

function failureOf(error: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }): Failure {
  if (error.name === "AbortError" || error.name === "TimeoutError")
    return { failure: "timeout", reason: `no answer within ${timeoutMs / 1000} s` };
  const code = error.code ?? error.errors?.[0]?.code ?? error.message;
  if (certificateCodes.test(code)) return { failure: "certificate", reason: code };
  return { failure: unreachableCodes.test(code) ? "unreachable" : "broken", reason: code };
}

/** Whether something came back. */
export function isAnswer(reply: Reply): reply is Answer {
  return "status" in reply;
}

/** Whether it says that the webhook was taken. */
export function isTaken(reply: Reply | undefined): reply is Answer {
  return reply !== undefined && isAnswer(reply) && reply.status >= 200 && reply.status < 300;
}
