import { type IncomingMessage, type ServerResponse } from "node:http";
import { Deadlines, type Waiting } from "../../shared/deadlines.js";
import { TillkitError, WebhookRejectedError } from "../../errors/index.js";
import { asBuffer } from "../../shared/bytes.js";

/** The property in which a request keeps its bytes. All copies of this package use the same symbol. */
const captured: unique symbol = Symbol.for("tillkit.rawBody");

/**
 * Keeps the exact bytes of a request for the signature check. For applications that parse JSON before the
 * payment router: use this function as the `verify` hook of body-parser.
 *
 * @example
 * app.use(express.json({ verify: captureRawBody }));
 * app.use("/payments", paymentRouter(payments));
 */
export function captureRawBody(request: IncomingMessage, _response: ServerResponse, rawBody: Buffer): void {
  const bytes = asBuffer(rawBody);
  // A mistaken use as a middleware would never call `next`.
  if (!bytes)
    throw new TillkitError(
      "option_invalid",
      "captureRawBody is no middleware. Pass it to the parser: express.json({ verify: captureRawBody }).",
    );
  // The property is not enumerable, so that no log shows the bytes.
  Object.defineProperty(request, captured, { value: bytes, configurable: true });
}

/** A body that is being read. */
interface Reading extends Waiting {
  readonly refuse: (error: WebhookRejectedError) => void;
}

type ParsedRequest = IncomingMessage & { [captured]?: Buffer; body?: unknown; rawBody?: unknown };

/** Returns a function that reads the exact bytes of a request, unless other code has kept these bytes. */
export function rawBodyReader({ limitBytes, bodyTimeoutMs }: { limitBytes: number; bodyTimeoutMs: number }) {
  // The timeout is for the whole body, because a sender of single bytes would otherwise never be late.
  const deadlines = new Deadlines<Reading>(bodyTimeoutMs, ({ refuse }) => refuse(tooSlow(bodyTimeoutMs)));
  return function readRawBody(request: ParsedRequest): Buffer | Promise<Buffer> {
    // `express.raw()` keeps the bytes in `body`. Some hosting platforms keep them in `rawBody`.
    const kept = request[captured] ?? asBuffer(request.body) ?? asBuffer(request.rawBody);
    if (kept) {
      if (kept.length > limitBytes) throw tooLarge(limitBytes);
      return kept;
    }
    // The kit cannot make the signed bytes again from a parsed body.
    if (request.readableDidRead) {
      throw consumed(
        "Something read the webhook's body before the payment router did, so the kit cannot check the signature. " +
          "Mount the payment router before express.json(), or use express.json({ verify: captureRawBody }).",
      );
    }
    if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
    if (request.destroyed) throw incomplete(undefined);
    return readStream(request, limitBytes, deadlines);
  };
}

/** Reads the body without body-parser, because the kit needs no decompression or decoding. */
function readStream(
  request: IncomingMessage,
  limitBytes: number,
  deadlines: Deadlines<Reading>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer | undefined;
    let bytes = 0;
    const refuse = (error: WebhookRejectedError): void => {
      deadlines.delete(reading);
      reject(error);
    };
    const reading: Reading = { since: performance.now(), refuse, older: undefined, newer: undefined };
    deadlines.add(reading);
    request.on("data", (chunk: Buffer | string) => {
      if (typeof chunk === "string") {
        refuse(
          consumed(
            "Something called setEncoding() on the webhook's request. Mount the payment router before it.",
          ),
        );
        return;
      }
      const length = bytes + chunk.length;
      if (length <= limitBytes) {
        body = body ? append(body, bytes, chunk, limitBytes) : chunk;
        bytes = length;
        return;
      }
      // The body is refused at the first byte too many, because its sender may never end.
      request.pause();
      refuse(tooLarge(limitBytes));
    });
    request.on("end", () => {
      deadlines.delete(reading);
      // If the buffer has grown beyond the body, only the bytes of the body are copied.
      resolve(
        !body || body.length === bytes ? (body ?? Buffer.alloc(0)) : Buffer.from(body.subarray(0, bytes)),
      );
    });
    request.on("error", (error) => refuse(incomplete(error)));
    request.on("close", () => {
      if (!request.readableEnded) refuse(incomplete(undefined));
    });
    // A middleware may have paused the request.
    request.resume();
  });
}

/**
 * Returns a buffer with the chunk behind the first `bytes` bytes. The buffer grows by doubling, because a
 * list of chunks of one byte each would take several hundred times the memory of the body.
 */
function append(body: Buffer, bytes: number, chunk: Buffer, limitBytes: number): Buffer {
  const length = bytes + chunk.length;
  let grown = body;
  if (length > body.length) {
    grown = Buffer.allocUnsafeSlow(Math.min(limitBytes, Math.max(2 * body.length, length, 1024)));
    body.copy(grown, 0, 0, bytes);
  }
  chunk.copy(grown, bytes);
  return grown;
}

function consumed(message: string): WebhookRejectedError {
  return new WebhookRejectedError("raw_body_consumed", message);
}

function incomplete(cause: unknown): WebhookRejectedError {
  return new WebhookRejectedError("body_incomplete", "The body did not arrive completely.", { cause });
}

function tooLarge(limitBytes: number): WebhookRejectedError {
  return new WebhookRejectedError("body_too_large", `The body is larger than ${limitBytes} bytes.`);
}

function tooSlow(bodyTimeoutMs: number): WebhookRejectedError {
  return new WebhookRejectedError("body_timeout", `The body did not arrive within ${bodyTimeoutMs} ms.`);
}
