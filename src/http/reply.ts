import { type ServerResponse } from "node:http";

const received = JSON.stringify({ received: true });
const receivedHeaders = headersOf(received);

/** What nearly every webhook is answered; made once. */
export function replyReceived(response: ServerResponse): void {
  response.writeHead(200, receivedHeaders);
  response.end(received);
}

/** Answers with a small JSON body. */
export function replyJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  // A string, which Node writes together with the head: bytes would be a second piece of the same write.
  const text = JSON.stringify(body);
  response.writeHead(status, { ...headersOf(text), ...headers });
  response.end(text);
}

function headersOf(text: string) {
  return {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
}
