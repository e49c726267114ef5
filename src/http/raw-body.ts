import { type IncomingMessage, type ServerResponse } from "node:http";
import { Deadlines, type Waiting } from "../shared/deadlines.js";
import { WebhookRejectedError } from "../errors/index.js";

const captured = new WeakMap<IncomingMessage, Buffer>();

/**
 * Keeps the exact bytes of a request for signature checks, where the application parses JSON before the payment
 * router sees it. A `verify` hook of body-parser:
 *
 * @example
 * app.use(express.json({ verify: captureRawBody }));
 * app.use("/payments", paymentRouter(payments));
 */
export function captureRawBody(request: IncomingMessage, _response: ServerResponse, rawBody: Buffer): void {
  captured.set(request, rawBody);
}

/** Reads the exact bytes of a request: by itself, or as {@link captureRawBody} kept them. Throws, or rejects. */
export type RawBodyReader = (request: IncomingMessage) => Buffer | Promise<Buffer>;

/** A body that is on its way. */
interface Reading extends Waiting {
  readonly refuse: (error: WebhookRejectedError) => void;
}

type ParsedRequest = IncomingMessage & { body?: unknown; rawBody?: unknown };

/** The reader, within these limits. `bodyTimeoutMs` is for the whole body. */
export function rawBodyReader({
  limitBytes,
  bodyTimeoutMs,
}: {
  limitBytes: number;
  bodyTimeoutMs: number;
}): RawBodyReader {
  // For the whole, and not from one byte to the next: a sender that drips would never be late.
  const deadlines = new Deadlines<Reading>(bodyTimeoutMs, ({ refuse }) => refuse(tooSlow(bodyTimeoutMs)));
  return function readRawBody(request: ParsedRequest) {
    const kept = keptBody(request);
    if (kept) {
      if (kept.length > limitBytes) throw tooLarge(limitBytes);
      return kept;
    }
    // Asked of the stream itself: bytes written again from a parsed body are not the bytes that were signed.
    if (request.readableDidRead) {
      throw new WebhookRejectedError(
        "raw_body_consumed",
        "Something read the webhook's body before the payment router did, so its signature cannot be checked. " +
          "Mount the payment router before express.json(), or use express.json({ verify: captureRawBody }).",
      );
    }
    if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
    if (request.destroyed) throw incomplete(undefined);
    return readWhole(request, limitBytes, deadlines);
  };
}

/** Nothing is inflated or decoded, so nothing of body-parser is needed; it cost a tenth of a webhook. */
function readWhole(
  request: IncomingMessage,
  limitBytes: number,
  deadlines: Deadlines<Reading>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (error: WebhookRejectedError): void => {
      deadlines.delete(reading);
      reject(error);
    };
    const reading: Reading = { since: performance.now(), refuse, older: undefined, newer: undefined };
    deadlines.add(reading);
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limitBytes) return void chunks.push(chunk);
      // At the first byte too many: a sender that never ends is answered, and its connection closed.
      request.pause();
      refuse(tooLarge(limitBytes));
    });
    request.on("end", () => {
      deadlines.delete(reading);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    request.on("error", (error) => refuse(incomplete(error)));
    request.on("close", () => {
      if (!request.readableEnded) refuse(incomplete(undefined));
    });
  });
}

/** `express.raw()` leaves the bytes in `body`; some hosting platforms leave them in `rawBody`. */
function keptBody(request: ParsedRequest): Buffer | undefined {
  const kept = captured.get(request);
  if (kept) return kept;
  if (Buffer.isBuffer(request.body)) return request.body;
  return Buffer.isBuffer(request.rawBody) ? request.rawBody : undefined;
}

function incomplete(cause: unknown): WebhookRejectedError {
  return new WebhookRejectedError("body_incomplete", "The body did not arrive as a whole.", { cause });
}

function tooLarge(limitBytes: number): WebhookRejectedError {
  return new WebhookRejectedError("body_too_large", `The body is larger than ${limitBytes} bytes.`);
}

function tooSlow(bodyTimeoutMs: number): WebhookRejectedError {
  return new WebhookRejectedError("body_timeout", `The body did not arrive within ${bodyTimeoutMs} ms.`);
}
