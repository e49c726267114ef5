import { type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { doctorAgent, refusalErrors } from "../../shared/refused-files.js";

/** An answer to a request. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The body. A body over 64 KiB is cut after at least 64 KiB. */
  body: string;
  /** The time halfway between sending and the first byte of the answer, in milliseconds since 1970. */
  atMs: number;
}

/** The reason why a request has no answer. */
export interface SendFailure {
  failure: "unreachable" | "certificate" | "timeout" | "broken";
  /** The code or the message of Node's error; for a timeout, a text with the time limit. */
  reason: string;
}

export type Reply = Answer | SendFailure;

/** A request to send. */
export interface Probe {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Sends the body in two halves, with this pause between them. */
  pauseMs?: number;
  now: () => Date;
}

const timeoutMs = 8000;
const maxAnswerBytes = 64 * 1024;

/** Sends one request on a connection of its own. Follows no redirect, and never rejects. */
export function sendProbe(address: string, probe: Probe): Promise<Reply> {
  const { method = "POST", headers = {}, body = "", pauseMs = 0, now } = probe;
  const bytes = Buffer.from(body);
  const exchange = new Promise<Reply>((resolve, reject) => {
    const url = new URL(address);
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs + pauseMs),
      headers: {
        "User-Agent": doctorAgent,
        ...(method === "POST" && { "Content-Length": bytes.length }),
        ...headers,
      },
    });
    const sentAt = now().getTime();
    request.on("error", reject);
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
        if (length > maxAnswerBytes) answer();
      });
      response.on("end", answer);
      // An answer that ends early still counts as an answer.
      response.on("error", answer);
    });
    if (pauseMs === 0) return void request.end(bytes);
    const half = Math.floor(bytes.length / 2);
    request.write(bytes.subarray(0, half));
    void delay(pauseMs).then(() => request.end(bytes.subarray(half)));
  });
  return exchange.catch((error: NodeError) => sendFailureOf(error, timeoutMs + pauseMs));
}

const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT)/;
const unreachableCodes = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EACCES)$/;

type NodeError = NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };

function sendFailureOf(error: NodeError, waitedMs: number): SendFailure {
  if (error.name === "AbortError" || error.name === "TimeoutError")
    return { failure: "timeout", reason: `no answer within ${waitedMs / 1000} s` };
  const code = error.code ?? error.errors?.[0]?.code ?? error.message;
  if (certificateCodes.test(code)) return { failure: "certificate", reason: code };
  return { failure: unreachableCodes.test(code) ? "unreachable" : "broken", reason: code };
}

/** Returns whether there is an answer. */
export function isAnswer(reply: Reply | undefined): reply is Answer {
  return reply !== undefined && "status" in reply;
}

/** Returns whether the webhook was accepted. */
export function isAccepted(reply: Reply | undefined): reply is Answer {
  return isAnswer(reply) && reply.status >= 200 && reply.status < 300;
}

/** Returns whether the kit refused the request, and not a proxy or a middleware in front of the kit. */
export function isRefusedByKit(reply: Reply | undefined): boolean {
  const error = isAnswer(reply) ? refusalErrors[reply.status] : undefined;
  return error !== undefined && (reply as Answer).body === JSON.stringify({ error });
}

/** Returns whether a proxy or a middleware limits requests. The kit answers 429 only to a wrong signature. */
export function isThrottled(reply: Reply | undefined): boolean {
  return isAnswer(reply) && reply.status === 429 && !isRefusedByKit(reply);
}

/** Returns whether the kit accepted the webhook. */
export function isAcceptedByKit(reply: Reply | undefined): boolean {
  return isAnswer(reply) && reply.status === 200 && reply.body === JSON.stringify({ received: true });
}
