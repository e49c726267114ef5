import { type Message } from "../../model/payment-report.js";
import { signedFields, type SignedField } from "../../model/signed-fields.js";
import { capturedFor } from "../../model/status-order.js";
import { isDateTime } from "../../shared/date-time.js";
import { decodeStrict } from "./decode-strict.js";
import { readMessage } from "./read-message.js";

/** The service's answer to a lookup of one payment, in the form in which the kit keeps it. */
export interface LookupAnswer {
  /** The payment as JSON, as the service wrote it (interface document, 2.1 or 2.3). */
  rawBody: Buffer;
  /** The fields that the configured scheme covers. The kit reads the answer like a webhook of that scheme. */
  covers: "body" | readonly SignedField[];
  /** The clientId of the payment. The documented answers do not contain the clientId. */
  clientId: string;
  /** The time at which the answer came: ISO 8601 UTC. */
  receivedAt: string;
}

/**
 * Returns the service's answer to a lookup as a message. The rules of a webhook apply, so that an answer and
 * a webhook with the same content are one event. `submittedAt` may be absent, as in the interface document,
 * 2.1.
 */
export function readLookup({ rawBody, covers, clientId, receivedAt }: LookupAnswer): Message {
  const decoded = decodeStrict(rawBody);
  if (!decoded.ok) return readMessage({ rawBody, covers });
  const { id, status, captured, submittedAt, providerId, source, createdAt, ...rest } = decoded.payload;
  const expectedCaptured = typeof status === "string" ? capturedFor(status) : undefined;
  const payload = {
    topic: `payment.${String(status)}`,
    timestamp: receivedAt,
    type: "payment",
    data: {
      id,
      status,
      captured: captured ?? expectedCaptured ?? false,
      total: totalIn(rest),
      submittedAt,
      clientId,
      providerId,
      source,
    },
  };
  const all = covers === "body" ? signedFields : covers;
  const present = submittedAt === undefined ? all.filter((field) => field !== "submittedAt") : all;
  const message = readMessage({ rawBody, payload, covers: present });
  if (message.kind === "payment" && typeof createdAt === "string" && isDateTime(createdAt))
    message.createdAt = createdAt;
  return message;
}

/** Returns the amount: in `total` as in a webhook (2.3), or in `purchase` as after a creation (2.1). */
function totalIn({ total, purchase }: Record<string, unknown>): unknown {
  if (total !== undefined || typeof purchase !== "object" || purchase === null) return total;
  return (purchase as { total?: unknown }).total;
}
