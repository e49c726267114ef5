import { readMessage } from "./message/read-message.js";
import { type Arrival, type Receipt } from "./recording/plan-group.js";
import { type SignatureScheme, type VerifyInput } from "./signature/scheme.js";
import { decodeSignedFields, verifySignature } from "./signature/verify-signature.js";

/** One POST that arrived: its headers and its exact bytes. */
export type WebhookRequest = Pick<VerifyInput, "headers" | "rawBody">;

/** The stages, as the kit was configured. */
export interface Receiving {
  scheme: SignatureScheme;
  /** Resolves when the webhook is on disk: in the store, or in the spool. */
  record: (arrival: Arrival) => Promise<Receipt>;
  now: () => Date;
  newId: () => string;
}

/**
 * A webhook's way: verified, parsed, reconciled and recorded; dispatched to handlers afterwards, from the record.
 *
 * Resolves when the webhook is durable and may be answered 200, whatever its outcome. Rejects with a
 * `WebhookRejectedError`, carrying the status to answer, when it was refused; then nothing was kept.
 */
export function receiveWebhook(kit: Receiving, request: WebhookRequest): Promise<Receipt> {
  // No async function, which is an object with a promise and a queue of its own: most schemes answer at once, and the promise
  // of the record will do.
  try {
    return verifyAndRecord(kit, request);
  } catch (error) {
    return Promise.reject(error);
  }
}

function verifyAndRecord(kit: Receiving, { headers, rawBody }: WebhookRequest): Promise<Receipt> {
  const { covers } = kit.scheme;
  const receiptId = kit.newId();
  const receivedAt = textOf(kit.now());

  // A signature over fields cannot be checked before they are read; one over the body is checked first.
  const payload = decodeSignedFields(kit.scheme, rawBody);
  const verifying = verifySignature(
    kit.scheme,
    payload ? { headers, rawBody, payload } : { headers, rawBody },
  );
  // Reconciled inside the record's transaction: only there is the payment locked.
  const record = (): Promise<Receipt> =>
    kit.record({
      receiptId,
      receivedAt,
      rawBody,
      covers,
      message: readMessage({ rawBody, covers, payload }),
    });
  return verifying ? verifying.then(record) : record();
}

let written = "";
let writtenAt = Number.NaN;

/** Once for all webhooks of one millisecond: to write a date costs as much as to parse the body. */
function textOf(time: Date): string {
  const milliseconds = time.getTime();
  if (milliseconds !== writtenAt) [writtenAt, written] = [milliseconds, time.toISOString()];
  return written;
}
