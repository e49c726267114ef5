import { WebhookRejectedError } from "../../errors/index.js";
import { fieldPath, readField, type SignedField } from "../../model/signed-fields.js";

/**
 * What {@link fieldsSignature} can sign: every field that holds a string, and `merchantId`, which is never read from
 * the body but taken from the configuration.
 */
export type ListedField = Exclude<SignedField, "captured"> | "merchantId";

/** The list that services with this interface sign, in their order. */
export const defaultSignedFields = [
  "id",
  "merchantId",
  "clientId",
  "total.value",
  "total.currency",
  "submittedAt",
  "status",
] as const satisfies readonly ListedField[];

/** Longest value of one signed field, in UTF-16 units. */
const longestField = 256;
/** The comma is the separator. Lone surrogates all become U+FFFD in UTF-8, so two of them would sign alike. */
const unsignable = /[,\p{Cc}\p{Surrogate}]/u;

/** Whether a text can stand in the signed string without being taken for another. */
export function isSignableText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= longestField && !unsignable.test(value);
}

/**
 * The string that is signed: the listed fields, joined by commas. Different fields never give the same string,
 * because each is a bounded string without a comma; numbers, lists and what else could be printed like a string are
 * refused. Only `submittedAt` may be missing, null or empty (three ways of one value), and not on a completed payment.
 *
 * @throws WebhookRejectedError `signed_fields_unreadable`
 */
export function canonicalFields(
  payload: Readonly<Record<string, unknown>>,
  { fields, merchantId }: { fields: readonly ListedField[]; merchantId?: string | undefined },
): string {
  let canonical = "";
  for (const [index, field] of fields.entries()) {
    if (index > 0) canonical += ",";
    canonical += field === "merchantId" ? readable(merchantId, field) : signableValue(payload, field);
  }
  return canonical;
}

function signableValue(payload: Readonly<Record<string, unknown>>, field: SignedField): string {
  const value = readField(payload, field);
  const blank = value === undefined || value === null || value === "";
  if (field === "submittedAt" && blank && readField(payload, "status") !== "completed") return "";
  return readable(value, fieldPath(field));
}

function readable(value: unknown, path: string): string {
  if (isSignableText(value)) return value;
  throw new WebhookRejectedError(
    "signed_fields_unreadable",
    `The signed field ${path} is not a plain string of 1 to ${longestField} characters without comma or control character.`,
  );
}
