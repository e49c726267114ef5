import { WebhookRejectedError } from "../errors/index.js";
import { asBuffer } from "../shared/bytes.js";
import { readMessage } from "./message/read-message.js";
import { type Arrival, type Receipt } from "./recording/arrival.js";
import { decodeSignedBody } from "./signature/canonical-fields.js";
import { type SignatureScheme, type VerifyInput } from "./signature/scheme.js";
import { isRejection, verifySignature } from "./signature/verify-signature.js";

/** One POST that arrived: its headers and its exact bytes; its method and address for schemes that sign them. */
export interface WebhookRequest extends Omit<VerifyInput, "payload" | "rawBody" | "headers"> {
  /** The headers: those of Node's request, the `Headers` of a `Request`, or an object with names in any case. */
  headers: VerifyInput["headers"] | Headers;
  /** The exact bytes that arrived. A `Uint8Array` is taken for the bytes that it shows, as `request.bytes()` gives them. */
  rawBody: Buffer | Uint8Array | ArrayBuffer;
}

/** The parts of the kit that receiving a webhook uses. */
export interface ReceiveParts {
  scheme: SignatureScheme;
  /** Resolves when the webhook is on disk: in the store, or in the spool. */
  keep: (arrival: Arrival) => Promise<Receipt>;
  /** Keeps what was refused for its signature or its form. It neither waits nor throws. */
  refused?: { keep: (request: VerifyInput, reason: string) => void } | undefined;
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
    // A signature over fields cannot be checked before they are decoded; one over the body is checked first.
    payload = covers === "body" ? undefined : decodeSignedBody(rawBody);
    await verifySignature(scheme, { ...request, payload });
  } catch (error) {
    if (isRejection(error)) refused?.keep(request, error.code);
    throw error;
  }
  // The message is reconciled in the record's transaction, because only there the payment is locked.
  const message = readMessage({ rawBody, covers, payload });
  if (message.kind === "inadmissible") refused?.keep(request, message.kind);
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

/** Returns the headers by their names in lower case, as Node gives them. Without headers, the signature is missing. */
function headersOf(given: WebhookRequest["headers"] | undefined, signature: string): VerifyInput["headers"] {
  if (given === undefined) return {};
  // Node's own are not copied: they are most of the calls.
  if (Object.hasOwn(given, signature.toLowerCase())) return given as VerifyInput["headers"];
  const headers: Record<string, string | readonly string[] | undefined> = {};
  // Frameworks have Headers of their own.
  const pairs = typeof given.entries === "function" ? (given as Headers).entries() : Object.entries(given);
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    // A header that is there twice stays twice, so that a scheme can refuse it.
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
