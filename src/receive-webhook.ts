import { decodeSignedFields } from "./event/decode-signed-fields.js";
import { readMessage } from "./event/read-message.js";
import { type Arrival, type Receipt } from "./recording/plan-group.js";
import { type SignatureScheme, type VerifyInput } from "./signature/scheme.js";
import { verifySignature } from "./signature/verify.js";

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
export async function receiveWebhook(kit: Receiving, { headers, rawBody }: WebhookRequest): Promise<Receipt> {
  const { covers } = kit.scheme;
  const receiptId = kit.newId();
  const receivedAt = textOf(kit.now());

  // A signature over fields cannot be checked before they are read; one over the body is checked first.
  const payload = decodeSignedFields(kit.scheme, rawBody);
  const verifying = verifySignature(
    kit.scheme,
    payload ? { headers, rawBody, payload } : { headers, rawBody },
  );
  if (verifying) await verifying;

  const message = readMessage({ rawBody, covers, payload });

  // Reconciled inside the record's transaction: only there is the payment locked.
  // Awaited here: a promise that is returned as it is takes two more turns of the queue.
  return await kit.record({ receiptId, receivedAt, rawBody, covers, message });
}

let written = "";
let writtenAt = Number.NaN;

/** Once for all webhooks of one millisecond: to write a date costs as much as to parse the body. */
function textOf(time: Date): string {
  const milliseconds = time.getTime();
  if (milliseconds !== writtenAt) [writtenAt, written] = [milliseconds, time.toISOString()];
  return written;
}
