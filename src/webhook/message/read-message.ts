import { hash } from "node:crypto";
import { TillkitError } from "../../errors/index.js";
import { canonicalValue, fitsCurrency } from "../../model/money.js";
import {
  type Message,
  type PaymentReport,
  type ReportedFields,
  type Verified,
} from "../../model/payment-report.js";
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
import { allFields, fieldRules } from "./field-rules.js";

/** A webhook whose signature is verified. */
export interface VerifiedWebhook {
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** The result of {@link decodeStrict}, if verification already decoded `rawBody`. */
  payload?: Readonly<Record<string, unknown>> | undefined;
  /** The fields that the signature covers. `checkCoverage` has found all indispensable fields in them. */
  covers: "body" | readonly SignedField[];
}

/** The fields that handlers get only if the service sent these fields. */
const optionalFields = ["timestamp", "submittedAt", "providerId", "source"] as const;

type Payload = Readonly<Record<string, unknown>>;
type Fields = Partial<ReportedFields>;

/**
 * Reads a verified webhook. Checks only covered fields, and the kit decides only by these. All other fields
 * become `untrusted`, unchanged. A covered `timestamp`, `providerId` or `source` also becomes `untrusted` if
 * it does not have the interface's form. Unknown fields, topics and statuses are allowed, because the
 * interface document leaves these lists open.
 *
 * @throws TillkitError `signature_coverage_too_small` if `covers` lacks an indispensable field. The content
 * of a body never causes an error.
 */
export function readMessage({ rawBody, payload: decodedBefore, covers }: VerifiedWebhook): Message {
  const decoded =
    decodedBefore === undefined ? decodeStrict(rawBody) : { ok: true as const, payload: decodedBefore };
  if (!decoded.ok) return inadmissible(digestOf(rawBody), decoded.reason);
  const { payload } = decoded;
  const covered = covers === "body" ? signedFields : signedFields.filter((field) => covers.includes(field));
  const digest = () => digestOf(covers === "body" ? rawBody : coveredValues(payload, covered));

  const all = covers === "body" ? readAll(payload) : undefined;
  const fields: Fields = all ?? {};
  const odd: SignedField[] = [];
  // If some fields are not covered or one is wrong, the fields are checked one by one, in the order of the
  // interface document. So the envelope is checked before the payment.
  for (const field of all ? [] : covered) {
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
  const verified = all ?? requireIndispensable(fields);
  const reason = findContradiction(verified, covered);
  if (reason !== undefined) return inadmissible(digest(), reason);
  const trusted = odd.length === 0 ? covered : covered.filter((field) => !odd.includes(field));
  const untrusted = trusted.length === signedFields.length ? none : untrustedFields(payload, trusted);
  return { kind: "payment", eventKey: eventKeyOf(verified), verified, untrusted };
}

/**
 * Returns all fields of a payment's webhook, or `undefined` if a field is wrong or the type is another one.
 */
function readAll(payload: Payload): ReportedFields | undefined {
  const { success, data } = allFields.safeParse(readFields(payload));
  if (!success || data.type !== "payment") return undefined;
  for (const field of optionalFields) if (data[field] === undefined) delete data[field];
  return data;
}

/** Checks one field, and stores its value if it has one. Returns the reason for a refusal, or `undefined`. */
function readInto(fields: Fields, payload: Payload, field: SignedField): string | undefined {
  const { schema, expected } = fieldRules[field];
  const value = readField(payload, field);
  const checked = schema.safeParse(value);
  if (!checked.success) return refusal(field, expected, value);
  if (checked.data !== undefined) (fields as Record<string, unknown>)[field] = checked.data;
  return undefined;
}

/** Returns a problem that shows only when several fields are compared, or `undefined`. */
function findContradiction(fields: Verified<never>, covered: readonly SignedField[]): string | undefined {
  const { "total.value": value, "total.currency": currency } = fields;
  if (!fitsCurrency(value, currency))
    return refusal("total.value", `no decimals beyond the minor unit of ${currency}`, value);
  if (fields.status === "completed" && fields.submittedAt === undefined && covered.includes("submittedAt"))
    return refusal("submittedAt", "an RFC 3339 date-time on a completed payment", undefined);
  return undefined;
}

/** The untrusted fields of a webhook whose fields are all covered and have the interface's form. */
const none: PaymentReport["untrusted"] = Object.freeze({});

function untrustedFields(payload: Payload, trusted: readonly SignedField[]): PaymentReport["untrusted"] {
  const untrusted: Partial<Record<SignedField, unknown>> = {};
  for (const field of signedFields) {
    const value = trusted.includes(field) ? undefined : readField(payload, field);
    if (value !== undefined) untrusted[field] = value;
  }
  return untrusted;
}

function requireIndispensable(fields: Fields): Verified<never> {
  const lacking = indispensableFields.filter((field) => fields[field] === undefined);
  if (lacking.length === 0) return fields as Verified<never>;
  throw new TillkitError(
    "signature_coverage_too_small",
    `The signature does not cover ${lacking.join(", ")}.`,
  );
}

/**
 * Returns the eventKey of a payment report, made of signed fields only. Two webhooks with one key report the
 * same event. `1475` and `1475.00` give the same key. The key begins with the clientId, so that keys of
 * payments made in sequence share index pages.
 */
export function eventKeyOf(fields: Verified<never>): string {
  const parts = [
    fields.id,
    fields.clientId,
    fields.status,
    canonicalValue(fields["total.value"]),
    fields["total.currency"],
    fields.submittedAt ?? "",
    fields.topic,
    fields.type,
    // `captured` is in the key because a webhook that corrects a contradiction in `captured` is not a
    // duplicate.
    fields.captured,
    // With this number in the key, a completion by another transfer is not a duplicate.
    ...(fields.status === "completed" && fields.providerId ? [fields.providerId] : []),
  ];
  // 24 characters are enough for the index. The clientId has only characters that are safe in every database.
  return `payment:${fields.clientId.slice(0, 24)}:${digestOf(JSON.stringify(parts))}`;
}

/**
 * Returns the covered fields of a body that is not a payment report, in the given order, as JSON. A key made
 * from them stays the same when unsigned fields change, so a copy makes no new row.
 */
function coveredValues(payload: Payload, covered: readonly SignedField[]): string {
  const values = covered.map((field) => {
    const value = readField(payload, field);
    return value === "" ? null : (value ?? null);
  });
  return JSON.stringify(values);
}

function digestOf(bytes: string | Buffer): string {
  // The one-shot function is faster than a Hash object.
  return hash("sha256", bytes, "base64url");
}

function refusal(field: SignedField, expected: string, value: unknown): string {
  return `${fieldPath(field)}: expected ${expected}, got ${describeValue(value)}`;
}

function inadmissible(digest: string, reason: string): Message {
  return { kind: "inadmissible", eventKey: `inadmissible:${digest}`, reason };
}

/** Returns a text shortened and in quotes, or a description of another value. */
function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return quote(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
