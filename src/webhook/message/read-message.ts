import { TillkitError } from "../../errors/index.js";
import { fitsCurrency } from "../../model/money.js";
import { type Message, type PaymentReport, type ReportedFields } from "../../model/payment-report.js";
import {
  decidesNothing,
  fieldPath,
  readField,
  readFields,
  indispensableFields,
  signedFields,
  type SignedField,
} from "../../model/signed-fields.js";
import { quote } from "../../shared/quote.js";
import { decodeStrict } from "./decode-strict.js";
import { bodyDigest, coveredDigest, paymentKey } from "./event-keys.js";
import { allFields, fieldRules } from "./field-rules.js";

/** A webhook whose signature is verified. */
export interface VerifiedWebhook {
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** The result of {@link decodeStrict}, if verification already decoded `rawBody`. */
  payload?: Readonly<Record<string, unknown>> | undefined;
  /** What the signature covers. Contains the indispensable fields: `checkCoverage` checks that at construction. */
  covers: "body" | readonly SignedField[];
}

/** The fields that handlers get only if the service sent them. */
const optionalFields = ["timestamp", "submittedAt", "providerId", "source"] as const;

type Payload = Readonly<Record<string, unknown>>;
type Fields = Partial<ReportedFields>;
type Identified = Fields & Pick<ReportedFields, (typeof indispensableFields)[number]>;

/**
 * Reads a verified webhook. Only covered fields are checked and decide; the others are passed on as `untrusted`,
 * unchanged. So are covered fields that decide nothing, where they are not as the interface shows them. Unknown fields,
 * topics and statuses are allowed: the interface document leaves these lists open.
 *
 * @throws TillkitError `signature_coverage_too_small` if `covers` lacks an indispensable field. No body makes it throw.
 */
export function readMessage({ rawBody, payload: decodedBefore, covers }: VerifiedWebhook): Message {
  const decoded =
    decodedBefore === undefined ? decodeStrict(rawBody) : { ok: true as const, payload: decodedBefore };
  if (!decoded.ok) return inadmissible(bodyDigest(rawBody), decoded.reason);
  const { payload } = decoded;
  const covered = covers === "body" ? signedFields : signedFields.filter((field) => covers.includes(field));
  const digest = () => (covers === "body" ? bodyDigest(rawBody) : coveredDigest(payload, covered));

  const fields: Fields = (covers === "body" && readAll(payload)) || {};
  const odd: SignedField[] = [];
  // One field at a time if not all are covered or one is wrong, in the order of the interface document: the envelope
  // is checked before the payment.
  for (const field of fields.type === undefined ? covered : []) {
    const reason = readInto(fields, payload, field);
    if (reason !== undefined && !decidesNothing(field)) return inadmissible(digest(), reason);
    if (reason !== undefined) odd.push(field);
    if (field === "type" && fields.type !== "payment")
      return {
        kind: "unrecognised",
        eventKey: `unrecognised:${digest()}`,
        topic: fields.topic ?? "",
        type: fields.type!,
      };
  }
  requireIndispensable(fields);
  const reason = findContradiction(fields, covered);
  if (reason !== undefined) return inadmissible(digest(), reason);
  const trusted = odd.length === 0 ? covered : covered.filter((field) => !odd.includes(field));
  return { kind: "payment", report: toReport(fields, payload, trusted) };
}

/** Returns all fields of a payment's webhook, or `undefined` if a field is wrong or the type is another one. */
function readAll(payload: Payload): ReportedFields | undefined {
  const { success, data } = allFields.safeParse(readFields(payload));
  if (!success || data.type !== "payment") return undefined;
  for (const field of optionalFields) if (data[field] === undefined) delete data[field];
  return data;
}

/** Checks one field and stores it, unless it is absent. Returns what is wrong with it, or `undefined`. */
function readInto(fields: Fields, payload: Payload, field: SignedField): string | undefined {
  const { schema, expected } = fieldRules[field];
  const value = readField(payload, field);
  const checked = schema.safeParse(value);
  if (!checked.success) return refusal(field, expected, value);
  if (checked.data !== undefined) (fields as Record<string, unknown>)[field] = checked.data;
  return undefined;
}

/** Returns a problem that no single field shows, or `undefined`. */
function findContradiction(fields: Identified, covered: readonly SignedField[]): string | undefined {
  const { "total.value": value, "total.currency": currency } = fields;
  if (!fitsCurrency(value, currency))
    return refusal("total.value", `no decimals beyond the minor unit of ${currency}`, value);
  if (fields.status === "completed" && fields.submittedAt === undefined && covered.includes("submittedAt"))
    return refusal("submittedAt", "an RFC 3339 date-time on a completed payment", undefined);
  return undefined;
}

function toReport(fields: Identified, payload: Payload, trusted: readonly SignedField[]): PaymentReport {
  const report: PaymentReport = {
    eventKey: paymentKey(fields),
    serviceId: fields.id,
    clientId: fields.clientId,
    status: fields.status,
    value: fields["total.value"],
    currency: fields["total.currency"],
    submittedAt: fields.submittedAt,
    verified: fields,
    untrusted: untrustedFields(payload, trusted),
  };
  if (fields.topic !== undefined) report.topic = fields.topic;
  if (fields.captured !== undefined) report.captured = fields.captured;
  return report;
}

/** The untrusted fields of a webhook whose fields are all covered and as the interface shows them. */
const none: PaymentReport["untrusted"] = Object.freeze({});

function untrustedFields(payload: Payload, trusted: readonly SignedField[]): PaymentReport["untrusted"] {
  if (trusted.length === signedFields.length) return none;
  const untrusted: Partial<Record<SignedField, unknown>> = {};
  for (const field of signedFields) {
    const value = trusted.includes(field) ? undefined : readField(payload, field);
    if (value !== undefined) untrusted[field] = value;
  }
  return untrusted;
}

function requireIndispensable(fields: Fields): asserts fields is Identified {
  const lacking = indispensableFields.filter((field) => fields[field] === undefined);
  if (lacking.length > 0)
    throw new TillkitError(
      "signature_coverage_too_small",
      `The signature does not cover ${lacking.join(", ")}.`,
    );
}

function refusal(field: SignedField, expected: string, value: unknown): string {
  return `${fieldPath(field)}: expected ${expected}, got ${describeValue(value)}`;
}

function inadmissible(digest: string, reason: string): Message {
  return { kind: "inadmissible", eventKey: `inadmissible:${digest}`, reason };
}

/** Returns a short text in quotes, or only the kind of the value. */
function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return quote(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
