import { TillkitError } from "../../errors/index.js";
import { fitsCurrency } from "../../model/money.js";
import {
  fieldPath,
  readField,
  readFields,
  indispensableFields,
  signedFields,
  type SignedField,
} from "../../model/signed-fields.js";
import { decodeStrict } from "./decode-strict.js";
import { bodyDigest, coveredDigest, paymentKey } from "./event-keys.js";
import { allFields, fieldRules } from "./field-rules.js";
import { findLossyNumber } from "./lossy-number.js";
import { type Message, type PaymentReport, type ReportedFields } from "../../model/payment-report.js";
import { describe, quote } from "../../model/quote.js";

/** A webhook whose signature was verified. */
export interface VerifiedWebhook {
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** What {@link decodeStrict} made of `rawBody`, where verification already needed it. */
  payload?: Readonly<Record<string, unknown>> | undefined;
  /** What the signature covers. Must hold the indispensable fields: `checkCoverage` sees to that at construction. */
  covers: "body" | readonly SignedField[];
}

/** Left out of what is told to handlers, where the service has not said it. */
const mayBeAbsent = ["submittedAt", "providerId", "source"] as const;

type Payload = Readonly<Record<string, unknown>>;
type Fields = Partial<ReportedFields>;
type Identified = Fields & Pick<ReportedFields, (typeof indispensableFields)[number]>;

/**
 * What a verified webhook says. Only covered fields are judged and only they decide; the others are passed on as
 * `untrusted`, unchanged. Unknown fields, topics and statuses are allowed, because the interface document leaves
 * those lists open. Pure; throws nothing for any body.
 */
export function readMessage({ rawBody, payload: decodedBefore, covers }: VerifiedWebhook): Message {
  const decoded =
    decodedBefore === undefined
      ? decodeStrict(rawBody)
      : { ok: true as const, payload: decodedBefore, hasNumbers: true };
  if (!decoded.ok) return inadmissible(bodyDigest(rawBody), decoded.reason);
  const { payload, hasNumbers } = decoded;
  const covered = covers === "body" ? signedFields : signedFields.filter((field) => covers.includes(field));
  const keyOf = () => (covers === "body" ? bodyDigest(rawBody) : coveredDigest(payload, covered));

  const fields: Fields = (covers === "body" && readAll(payload)) || {};
  // One by one, where not all are covered, or something is wrong with one of them. In the order of the interface
  // document, so that the envelope is judged before the payment.
  for (const field of fields.type === undefined ? covered : []) {
    const reason = readInto(fields, payload, field);
    if (reason !== undefined) return inadmissible(keyOf(), reason);
    if (field === "type" && fields.type !== "payment")
      return {
        kind: "unrecognised",
        eventKey: `unrecognised:${keyOf()}`,
        topic: fields.topic ?? "",
        type: fields.type!,
      };
  }
  requireIdentity(fields);
  // Wherever it stands: what a message says about money must not depend on who reads it.
  const lossy = hasNumbers ? findLossyNumber(rawBody.toString("utf8")) : undefined;
  if (lossy !== undefined)
    return inadmissible(keyOf(), `a number with more digits than a double: ${quote(lossy)}`);
  const reason = contradiction(fields, covered);
  if (reason !== undefined) return inadmissible(keyOf(), reason);
  return { kind: "payment", report: toReport(fields, payload, covered) };
}

/** The fields of a payment's webhook; nothing where one of them is wrong, or where it is about another thing. */
function readAll(payload: Payload): ReportedFields | undefined {
  const { success, data } = allFields.safeParse(readFields(payload));
  if (!success || data.type !== "payment") return undefined;
  for (const field of mayBeAbsent) if (data[field] === undefined) delete data[field];
  return data;
}

/** Checks one field and keeps it; absent ones are left out. Answers with what is wrong. */
function readInto(fields: Fields, payload: Payload, field: SignedField): string | undefined {
  const { schema, expected } = fieldRules[field];
  const value = readField(payload, field);
  const checked = schema.safeParse(value);
  if (!checked.success) return refusal(field, expected, value);
  if (checked.data !== undefined) (fields as Record<string, unknown>)[field] = checked.data;
  return undefined;
}

/** What single fields cannot show. */
function contradiction(fields: Identified, covered: readonly SignedField[]): string | undefined {
  const { "total.value": value, "total.currency": currency } = fields;
  if (!fitsCurrency(value, currency))
    return refusal("total.value", `no decimals beyond the minor unit of ${currency}`, value);
  if (fields.status === "completed" && fields.submittedAt === undefined && covered.includes("submittedAt"))
    return refusal("submittedAt", "an RFC 3339 date-time on a completed payment", undefined);
  return undefined;
}

function toReport(fields: Identified, payload: Payload, covered: readonly SignedField[]): PaymentReport {
  const report: PaymentReport = {
    eventKey: paymentKey(fields),
    serviceId: fields.id,
    clientId: fields.clientId,
    status: fields.status,
    value: fields["total.value"],
    currency: fields["total.currency"],
    submittedAt: fields.submittedAt,
    verified: fields,
    untrusted: untrustedOf(payload, covered),
  };
  if (fields.topic !== undefined) report.topic = fields.topic;
  if (fields.captured !== undefined) report.captured = fields.captured;
  return report;
}

/** Where every byte is signed, there is nothing to look for. */
const nothing: PaymentReport["untrusted"] = Object.freeze({});

function untrustedOf(payload: Payload, covered: readonly SignedField[]): PaymentReport["untrusted"] {
  if (covered.length === signedFields.length) return nothing;
  const untrusted: Partial<Record<SignedField, unknown>> = {};
  for (const field of signedFields) {
    const value = covered.includes(field) ? undefined : readField(payload, field);
    if (value !== undefined) untrusted[field] = value;
  }
  return untrusted;
}

function requireIdentity(fields: Fields): asserts fields is Identified {
  const lacking = indispensableFields.filter((field) => fields[field] === undefined);
  if (lacking.length > 0)
    throw new TillkitError(
      "signature_coverage_too_small",
      `The signature does not cover ${lacking.join(", ")}.`,
    );
}

function refusal(field: SignedField, expected: string, value: unknown): string {
  return `${fieldPath(field)}: expected ${expected}, got ${describe(value)}`;
}

function inadmissible(digest: string, reason: string): Message {
  return { kind: "inadmissible", eventKey: `inadmissible:${digest}`, reason };
}
