import { createHmac } from "node:crypto";
import { type HmacAlgorithm, type ListedField } from "../../webhook/signature/index.js";

/** How fields are signed. */
export interface FieldsSigning {
  secret: string;
  algorithm: HmacAlgorithm;
  fields: readonly ListedField[];
  merchantId: string;
}

/**
 * What a service signs that joins the fields as they come, without a look at them: a number is printed, what is missing
 * is nothing. tillkit's own scheme refuses to sign such a body, and a bad day may have one.
 */
export function joinedFieldsSignature(
  rawBody: Buffer,
  { secret, algorithm, fields, merchantId }: FieldsSigning,
): string {
  const body = parsed(rawBody);
  const joined = fields
    .map((field) => (field === "merchantId" ? merchantId : printed(valueAt(body, pathOf(field)))))
    .join(",");
  return createHmac(algorithm, secret).update(joined).digest("hex");
}

function parsed(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString("utf8"));
  } catch {
    return undefined;
  }
}

function pathOf(field: string): string[] {
  return ["topic", "timestamp", "type"].includes(field) ? [field] : ["data", ...field.split(".")];
}

function valueAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, step)
        ? (value as Record<string, unknown>)[step]
        : undefined,
    body,
  );
}

function printed(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
