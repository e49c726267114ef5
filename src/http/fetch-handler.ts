import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { type SignedField } from "../model/signed-fields.js";
import { optionInvalid } from "../shared/unknown-names.js";
import { type PaymentRouter } from "./payment-router.js";

/**
 * Returns a function from a `Request` to its `Response`, for frameworks without Node's requests and
 * responses. Examples are the route handlers of Next.js, Hono and Bun. The function handles all addresses
 * below the path of `publicUrl`, as the router does, and returns 404 for every other address. The function
 * rejects only with an error that the router passes on.
 *
 * @example
 * // app/payments/[...path]/route.js of Next.js
 * const handler = fetchHandler(router);
 * export { handler as GET, handler as HEAD, handler as POST };
 */
export function fetchHandler<Covers extends SignedField, Tx>(
  router: PaymentRouter<Covers, Tx>,
): (request: Request) => Promise<Response> {
  if (!Object.hasOwn(Object(router) as object, "payments"))
    throw optionInvalid("fetchHandler", "takes what paymentRouter returned.");
  const mount = new URL(router.payments.options.publicUrl).pathname.replace(/\/$/, "");
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    if (!pathname.startsWith(`${mount}/`)) return new Response(undefined, { status: 404 });
    const incoming = incomingOf(request, pathname + search, mount);
    return new Promise<Response>((resolve, reject) => {
      router(incoming, outgoingTo(resolve, incoming), (error) =>
        // Express passes null for an address that the router leaves to the application.
        error === undefined || error === null
          ? resolve(new Response(undefined, { status: 404 }))
          : reject(asError(error)),
      );
    });
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Returns the parts of Node's request that the router uses. */
function incomingOf(
  { body, bodyUsed, headers, method }: Request,
  originalUrl: string,
  mount: string,
): IncomingMessage {
  // A stream that other code reads or has read gives no bytes. The router then refuses the webhook.
  const isRead = bodyUsed || body?.locked === true;
  const stream = body && !isRead ? Readable.fromWeb(body) : Readable.from([]);
  if (isRead) Object.defineProperty(stream, "readableDidRead", { value: true });
  // If a client disconnects, the stream emits an error. Without a listener, the error would end the process.
  stream.on("error", () => {});
  const fields = {
    method,
    originalUrl,
    baseUrl: mount,
    url: originalUrl.slice(mount.length),
    headers: Object.fromEntries(headers) satisfies IncomingHttpHeaders,
    // The client's address is not known, so all refused webhooks share one budget. The budget never refuses a
    // valid webhook.
    socket: {},
  };
  const complete = { get: () => stream.readableEnded };
  return Object.defineProperty(
    Object.assign(stream, fields),
    "complete",
    complete,
  ) as unknown as IncomingMessage;
}

/** Returns a response of Node without a connection. Passes the content to `resolve` as a `Response`. */
function outgoingTo(resolve: (response: Response) => void, request: IncomingMessage): ServerResponse {
  const outgoing = new ServerResponse(request);
  let isSent = false;
  const end = (body?: unknown): ServerResponse => {
    isSent = true;
    const headers = Object.entries(outgoing.getHeaders()).map(([name, value]) => [name, String(value)]);
    const hasBody = request.method !== "HEAD" && body !== undefined;
    const init = { status: outgoing.statusCode, headers: headers as [string, string][] };
    resolve(new Response(hasBody ? (body as string | Uint8Array<ArrayBuffer>) : undefined, init));
    // The request log writes its line on this event.
    outgoing.emit("finish");
    outgoing.emit("close");
    return outgoing;
  };
  const writeHead = (status: number, headers: Record<string, string | number>): ServerResponse => {
    outgoing.statusCode = status;
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    return outgoing;
  };
  Object.defineProperty(outgoing, "headersSent", { get: () => isSent });
  return Object.assign(outgoing, { writeHead, end } as object);
}
