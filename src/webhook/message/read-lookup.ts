import { capturedFor } from "../../model/status-order.js";
import { signedFields, type SignedField } from "../../model/signed-fields.js";
import { decodeStrict } from "./decode-strict.js";
import { type Message } from "../../model/payment-report.js";
import { readMessage } from "./read-message.js";

/** The service's answer about one payment, as the kit keeps it. */
export interface LookupAnswer {
  /** The payment as the service wrote it (interface document, 2.1 or 2.3), as JSON. */
  rawBody: Buffer;
  /** What the configured scheme covers: the answer is read as a webhook of that scheme would be. */
  covers: "body" | readonly SignedField[];
  /** Whose payment was asked about; the document's answers do not say. */
  clientId: string;
  /** When the answer came: ISO 8601 UTC. */
  receivedAt: string;
}

/**
 * What the service's answer to a lookup says, in the same words as a webhook, and judged by the same rules: where it
 * agrees with a webhook, the two are one event. `submittedAt` may be missing, as it is in the document's 2.1.
 */
export function readLookup({ rawBody, covers, clientId, receivedAt }: LookupAnswer): Message {
  const decoded = decodeStrict(rawBody);
  if (!decoded.ok) return readMessage({ rawBody, covers });
  const { id, status, captured, submittedAt, providerId, source, ...rest } = decoded.payload;
  const known = typeof status === "string" ? capturedFor(status) : undefined;
  const payload = {
    topic: `payment.${String(status)}`,
    timestamp: receivedAt,
    type: "payment",
    data: {
      id,
      status,
      captured: captured ?? known ?? false,
      total: totalOf(rest),
      submittedAt,
      clientId,
      providerId,
      source,
    },
  };
  const all = covers === "body" ? signedFields : covers;
  const said = submittedAt === undefined ? all.filter((field) => field !== "submittedAt") : all;
  return readMessage({ rawBody, payload, covers: said });
}

/** Under `purchase` as in the answer to a creation (2.1), or beside the status as in a webhook (2.3). */
function totalOf({ total, purchase }: Record<string, unknown>): unknown {
  if (total !== undefined || typeof purchase !== "object" || purchase === null) return total;
  return (purchase as { total?: unknown }).total;
}
