import { hash } from "node:crypto";
import { canonicalValue } from "../../model/money.js";
import { type ReportedFields } from "../../model/payment-report.js";
import { readField, type SignedField } from "../../model/signed-fields.js";

/** The fields that identify a payment report. */
type IdentifyingFields = Pick<
  ReportedFields,
  "id" | "clientId" | "status" | "total.value" | "total.currency"
> &
  Partial<Pick<ReportedFields, "submittedAt" | "topic" | "type" | "captured">>;

/**
 * Returns the key of a payment report, made of signed fields only: two webhooks with one key are one event. `1475` and
 * `1475.00` give one key. It begins with the clientId, so that keys of payments made in sequence share index pages.
 */
export function paymentKey(fields: IdentifyingFields): string {
  const parts = [
    fields.id,
    fields.clientId,
    fields.status,
    canonicalValue(fields["total.value"]),
    fields["total.currency"],
    fields.submittedAt ?? "",
    fields.topic,
    fields.type,
    // Part of the key, so that a corrected webhook is no copy of one that contradicted itself.
    fields.captured,
  ];
  // An index needs no longer prefix. The clientId has only characters that are safe in every database.
  return `payment:${fields.clientId.slice(0, 24)}:${digest(JSON.stringify(parts))}`;
}

/** Returns the key of a body that is no payment report, under a signature over the whole body. */
export function bodyDigest(rawBody: Buffer): string {
  return digest(rawBody);
}

/**
 * Returns the key of a body that is no payment report, under a signature over fields. It is made of these fields in the
 * given order, so that a change of the unsigned rest does not make a new row each time.
 */
export function coveredDigest(
  payload: Readonly<Record<string, unknown>>,
  covered: readonly SignedField[],
): string {
  const values = covered.map((field) => {
    const value = readField(payload, field);
    return value === "" ? null : (value ?? null);
  });
  return digest(JSON.stringify(values));
}

function digest(bytes: string | Buffer): string {
  // The one-shot function is faster than a Hash object.
  return hash("sha256", bytes, "base64url");
}
