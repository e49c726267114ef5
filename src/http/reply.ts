import { type IncomingMessage, type ServerResponse } from "node:http";
import { refusalErrors } from "../shared/refused-files.js";

const received = JSON.stringify({ received: true });
const receivedHeaders = headersOf(received);

/** Sends 200 for a webhook that the store or the spool has. */
export function replyReceived(response: ServerResponse): void {
  // A middleware may have answered meanwhile, such as a timeout of the application.
  if (response.headersSent) return;
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
  // The body is a string, because Node sends a string in one write with the head.
  const json = JSON.stringify(body);
  response.writeHead(status, { ...headersOf(json), ...headers });
  response.end(json);
}

/** Refuses a request. The body depends only on the status, so a sender learns nothing about the reason. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, retryAfter }: { status: number; retryAfter: number | undefined },
): void {
  if (response.headersSent || response.destroyed) return;
  // Node would parse the unread rest of the body as the next request, so the connection is closed.
  const close: Record<string, string> = request.complete ? {} : { Connection: "close" };
  const allow: Record<string, string> = status === 405 ? { Allow: "POST" } : {};
  const retry: Record<string, string> = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  replyJson(response, status, { error: refusalErrors[status] }, { ...close, ...allow, ...retry });
}

function headersOf(json: string) {
  return {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(json),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
}
