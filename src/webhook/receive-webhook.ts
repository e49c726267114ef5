import { WebhookRejectedError } from "../errors/index.js";
import { asBuffer } from "../shared/bytes.js";
import { readMessage } from "./message/read-message.js";
import { type Arrival, type Receipt } from "./recording/arrival.js";
import { decodeSignedBody } from "./signature/canonical-fields.js";
import { type SignatureScheme, type VerifyInput } from "./signature/scheme.js";
import { verifySignature } from "./signature/verify-signature.js";

/** One POST that arrived: its headers and its exact bytes; its method and address for schemes that sign them. */
export interface WebhookRequest extends Omit<VerifyInput, "payload" | "rawBody"> {
  /** The exact bytes that arrived. A `Uint8Array` is taken for the bytes that it shows, as `request.bytes()` gives them. */
  rawBody: Buffer | Uint8Array | ArrayBuffer;
}

/** The parts of the kit that receiving a webhook uses. */
export interface ReceiveParts {
  scheme: SignatureScheme;
  /** Resolves when the webhook is on disk: in the store, or in the spool. */
  keep: (arrival: Arrival) => Promise<Receipt>;
  now: () => Date;
  newId: () => string;
}

/**
 * Receives one webhook: verifies its signature, parses it, and records it with its outcome. Handlers are called later, from
 * the record.
 *
 * Resolves when the webhook is durable and may be answered 200, whatever its outcome. Rejects with a
 * `WebhookRejectedError`, which has the status to answer, when the webhook was refused; it is not known to be kept then.
 */
export async function receiveWebhook(
  { scheme, keep, now, newId }: ReceiveParts,
  { rawBody: given, headers, method, url }: WebhookRequest,
): Promise<Receipt> {
  const rawBody = bytesOf(given);
  const { covers } = scheme;
  const receiptId = newId();
  const receivedAt = dateString(now());
  // A signature over fields cannot be checked before they are decoded; one over the body is checked first.
  const payload = covers === "body" ? undefined : decodeSignedBody(rawBody);
  await verifySignature(scheme, { headers, rawBody, method, url, payload });
  // The message is reconciled in the record's transaction, because only there the payment is locked.
  const message = readMessage({ rawBody, covers, payload });
  return keep({ receiptId, receivedAt, rawBody, covers, message });
}

/** Returns the bytes as a Buffer, because all that follows reads them as one. */
function bytesOf(given: unknown): Buffer {
  const bytes = asBuffer(given);
  if (bytes) return bytes;
  throw new WebhookRejectedError(
    "raw_body_consumed",
    `rawBody must be the exact bytes that arrived, as a Buffer or a Uint8Array, and is ${given === null ? "null" : `of type ${typeof given}`}.`,
  );
}

let cachedDate = "";
let cachedAt = Number.NaN;

/** Returns the time as ISO 8601, formatted once for all webhooks of one millisecond. */
function dateString(time: Date): string {
  const milliseconds = time.getTime();
  if (milliseconds !== cachedAt) [cachedAt, cachedDate] = [milliseconds, time.toISOString()];
  return cachedDate;
}
