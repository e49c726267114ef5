import { WebhookRejectedError } from "../errors/index.js";
import { asBuffer } from "../shared/bytes.js";
import { readMessage } from "./message/read-message.js";
import { type Arrival, type Receipt } from "./recording/arrival.js";
import { decodeSignedBody } from "./signature/canonical-fields.js";
import { type SignatureScheme, type VerifyInput } from "./signature/scheme.js";
import { isRejection, verifySignature } from "./signature/verify-signature.js";

/** One POST request that arrived. The method and the address are for schemes that sign them. */
export interface WebhookRequest extends Omit<VerifyInput, "payload" | "rawBody" | "headers"> {
  /** Node's request headers, the `Headers` of a `Request`, or an object with names in any case. */
  headers: VerifyInput["headers"] | Headers;
  /** The exact bytes that arrived. If this is a `Uint8Array`, only the bytes of its view are used. */
  rawBody: Buffer | Uint8Array | ArrayBuffer;
}

/** The parts of the kit that {@link receiveWebhook} uses. */
export interface ReceiveParts {
  scheme: SignatureScheme;
  /** Resolves when the webhook is on disk, in the store or in the spool. */
  keep: (arrival: Arrival) => Promise<Receipt>;
  /** Keeps a webhook that was refused for its signature or its form. Neither waits nor throws. */
  refused?: { keep: (request: VerifyInput, reason: string) => void } | undefined;
  now: () => Date;
  newId: () => string;
}

/**
 * Receives one webhook: verifies its signature, parses it, and records it with its outcome. The dispatcher
 * calls handlers later, from the stored events.
 *
 * Resolves when the webhook is durable and may be answered 200. This does not depend on the outcome. If the
 * webhook was refused, rejects with a `WebhookRejectedError`, whose `status` is the HTTP status of the
 * answer. With the code `record_unavailable`, the webhook may still be recorded, if a commit ends late.
 */
export async function receiveWebhook(
  { scheme, keep, refused, now, newId }: ReceiveParts,
  { rawBody: given, headers: givenHeaders, method, url }: WebhookRequest,
): Promise<Receipt> {
  const rawBody = bytesOf(given);
  const headers = headersOf(givenHeaders, scheme.header);
  const { covers } = scheme;
  const receiptId = newId();
  const receivedAt = dateString(now());
  const request = { headers, rawBody, method, url };
  let payload: VerifyInput["payload"];
  try {
    // A signature over fields can be checked only after decoding. A signature over the body is checked first.
    payload = covers === "body" ? undefined : decodeSignedBody(rawBody);
    await verifySignature(scheme, { ...request, payload });
  } catch (error) {
    if (isRejection(error)) refused?.keep(request, error.code);
    throw error;
  }
  // The recorder reconciles the message, because the payment is locked only in its transaction.
  const message = readMessage({ rawBody, covers, payload });
  if (message.kind === "inadmissible") refused?.keep(request, message.kind);
  return keep({ receiptId, receivedAt, rawBody, covers, message });
}

/** Returns the bytes as a Buffer, which the following steps expect. */
function bytesOf(given: unknown): Buffer {
  const bytes = asBuffer(given);
  if (bytes) return bytes;
  throw new WebhookRejectedError(
    "raw_body_consumed",
    `rawBody must be the exact bytes that arrived, as a Buffer or a Uint8Array, and is ${given === null ? "null" : `of type ${typeof given}`}.`,
  );
}

/**
 * Returns the headers by their names in lower case. Headers in which the signature's header already has a
 * lower-case name are returned unchanged. If no headers are given, the scheme finds no signature.
 */
function headersOf(given: WebhookRequest["headers"] | undefined, signature: string): VerifyInput["headers"] {
  if (given === undefined) return {};
  // The headers of Node's request, the usual case, are not copied.
  if (Object.hasOwn(given, signature.toLowerCase())) return given as VerifyInput["headers"];
  const headers: Record<string, string | readonly string[] | undefined> = {};
  // Some frameworks have their own class `Headers`, so `instanceof` would not recognise it.
  const pairs = typeof given.entries === "function" ? (given as Headers).entries() : Object.entries(given);
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    // A repeated header becomes a list, so that a scheme can refuse it.
    headers[lower] = headers[lower] === undefined ? value : [headers[lower], value ?? []].flat(2);
  }
  return headers;
}

let cachedDate = "";
let cachedAt = Number.NaN;

/** Returns the time as ISO 8601, formatted once for all webhooks of one millisecond. */
function dateString(time: Date): string {
  const milliseconds = time.getTime();
  if (milliseconds !== cachedAt) [cachedAt, cachedDate] = [milliseconds, time.toISOString()];
  return cachedDate;
}
