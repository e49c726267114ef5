import { type IncomingMessage, type ServerResponse } from "node:http";

const received = JSON.stringify({ received: true });
const receivedHeaders = headersOf(received);

/** Sends 200 for a webhook that is on disk. */
export function replyReceived(response: ServerResponse): void {
  response.writeHead(200, receivedHeaders);
  response.end(received);
}

/** Sends a small JSON body. */
export function replyJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  // A string, because Node sends it in one write with the head.
  const json = JSON.stringify(body);
  response.writeHead(status, { ...headersOf(json), ...headers });
  response.end(json);
}

/** The error in the body of a refusal, by status. */
const errors: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "signature_invalid",
  405: "method_not_allowed",
  408: "body_timeout",
  413: "body_too_large",
  415: "unsupported_media_type",
  429: "too_many_failures",
  500: "internal_error",
  503: "unavailable",
};

/** Refuses a request with one constant body per status: a sender learns nothing about why a signature failed. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, retryAfter }: { status: number; retryAfter: number | undefined },
): void {
  if (response.headersSent || response.destroyed) return;
  // The unread rest of a body would be parsed as the next request.
  const close: Record<string, string> = request.complete ? {} : { Connection: "close" };
  const allow: Record<string, string> = status === 405 ? { Allow: "POST" } : {};
  const retry: Record<string, string> = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  replyJson(response, status, { error: errors[status] }, { ...close, ...allow, ...retry });
}

function headersOf(json: string) {
  return {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(json),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
}
