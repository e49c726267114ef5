import { WebhookRejectedError } from "../../errors/index.js";
import { fieldPath, readField, type SignedField } from "../../model/signed-fields.js";
import { asBuffer } from "../../shared/bytes.js";
import { decodeStrict } from "../message/decode-strict.js";
import { requireOptions } from "../../shared/unknown-names.js";

/**
 * The fields that {@link fieldsSignature} can sign: every string field of the body, and `merchantId`. The
 * value of `merchantId` comes from the configuration, and never from the body.
 */
export type ListedField = Exclude<SignedField, "captured"> | "merchantId";

/** The fields that services with this interface sign, in their order. */
export const defaultSignedFields = [
  "id",
  "merchantId",
  "clientId",
  "total.value",
  "total.currency",
  "submittedAt",
  "status",
] as const satisfies readonly ListedField[];

/** The maximum length of one signed value, in UTF-16 units. */
const maxLength = 256;
/** The comma is the separator. All lone surrogates have the same bytes in UTF-8, and the same signature. */
const unsignable = /[,\p{Cc}\p{Surrogate}]/u;

/** Returns whether the value can be part of the signed string without ambiguity. */
export function isSignableText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength && !unsignable.test(value);
}

/**
 * Decodes a body whose fields are signed.
 *
 * @throws WebhookRejectedError `signed_fields_unreadable` if the body cannot be decoded
 */
export function decodeSignedBody(rawBody: Buffer): Record<string, unknown> {
  // An application may call a scheme itself, with the bytes of another framework.
  const decoded = decodeStrict(asBuffer(rawBody) ?? rawBody);
  if (decoded.ok) return decoded.payload;
  throw new WebhookRejectedError(
    "signed_fields_unreadable",
    `The signed fields cannot be read from the body: ${decoded.reason}.`,
  );
}

/**
 * Returns the string that is signed: the listed fields, joined by commas. Different fields never give the
 * same string, because each value must be a string of limited length without a comma. Only `submittedAt` may
 * be missing, null or empty, which all mean the same. On a completed payment, it must have a value.
 *
 * @throws WebhookRejectedError `signed_fields_unreadable` if a listed field cannot be signed
 * @throws ConfigurationError `option_invalid` if `options` is not an object
 */
export function canonicalFields(
  payload: Readonly<Record<string, unknown>>,
  options: { fields: readonly ListedField[]; merchantId?: string | undefined },
): string {
  requireOptions("canonicalFields", options, "{ fields, merchantId }");
  const { fields, merchantId } = options;
  let canonical = "";
  for (const [index, field] of fields.entries()) {
    if (index > 0) canonical += ",";
    canonical += field === "merchantId" ? requireSignable(merchantId, field) : signableValue(payload, field);
  }
  return canonical;
}

function signableValue(payload: Readonly<Record<string, unknown>>, field: SignedField): string {
  const value = readField(payload, field);
  const blank = value === undefined || value === null || value === "";
  if (field === "submittedAt" && blank && readField(payload, "status") !== "completed") return "";
  return requireSignable(value, fieldPath(field));
}

function requireSignable(value: unknown, path: string): string {
  if (isSignableText(value)) return value;
  throw new WebhookRejectedError(
    "signed_fields_unreadable",
    `The signed field ${path} is not a plain string of 1 to ${maxLength} characters without comma or control character.`,
  );
}
