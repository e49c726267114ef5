import { defaultSignedFields, signedFields } from "../../webhook/signature/index.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import { type Cause, changed, type Form } from "./diagnoses.js";

/** What is asked of the settings here. */
export type FieldSettings = Pick<SignatureSettings, "fields" | "merchantId">;

const separators = ["", "|", ".", ":", ";", "&", "-", " ", "\n", ", "];

/**
 * The strings that could have been signed by joining fields of the body; none where it is no JSON object. Unlike the kit's
 * own reading it is forgiving, because here a wrong guess only fits nothing.
 */
export function fieldForms(rawBody: Buffer, { fields, merchantId }: FieldSettings): Form<Buffer>[] {
  const read = fieldReader(rawBody, merchantId);
  if (read === undefined) return [];
  const forms: Form<Buffer>[] = [];
  const add = (list: readonly string[], causes: readonly Cause[], separator = ",") =>
    forms.push({ value: Buffer.from(list.map(read).join(separator)), causes });
  const other = (detail: string): Cause[] => [{ code: "fields_other", detail }];

  add(fields, []);
  if (String(fields) !== String(defaultSignedFields))
    add(defaultSignedFields, other(`the usual list of fields: ${defaultSignedFields.join(",")}`));
  for (const [index, left] of fields.entries()) {
    const rest = fields.filter((_, at) => at !== index);
    add(
      rest,
      left === "merchantId"
        ? [{ code: "merchant_id_other", detail: "the fields without merchantId" }]
        : other(`the fields ${rest.join(",")} (without ${left})`),
    );
  }
  for (const more of signedFields.filter((field) => !(fields as readonly string[]).includes(field))) {
    add([...fields, more], other(`the fields ${[...fields, more].join(",")} (with ${more})`));
    add([more, ...fields], other(`the fields ${[more, ...fields].join(",")} (with ${more})`));
  }
  for (const separator of separators)
    add(fields, other(`the fields joined by ${JSON.stringify(separator)} instead of a comma`), separator);
  if (fields.includes("merchantId") && merchantId)
    forms.push(
      changed(
        Buffer.from(fields.map(fieldReader(rawBody, "")!).join(",")),
        "merchant_id_other",
        "the fields with an empty merchantId",
      ),
    );
  return forms;
}

/**
 * Every order of the fields, and every order of all but one or two of them: thousands, so they come one by one, and only
 * where nothing simpler fits.
 */
export function* fieldOrders(
  rawBody: Buffer,
  { fields, merchantId }: FieldSettings,
): Generator<Form<Buffer>> {
  const read = fieldReader(rawBody, merchantId);
  if (read === undefined) return;
  const values = new Map(fields.map((field) => [field as string, read(field)]));
  for (let size = fields.length; size >= Math.max(3, fields.length - 2); size -= 1)
    for (const list of arrangements(fields, size))
      yield changed(
        Buffer.from(list.map((field) => values.get(field)).join(",")),
        "fields_other",
        `the fields in this order: ${list.join(",")}`,
      );
}

function* arrangements(items: readonly string[], size: number): Generator<string[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const [index, item] of items.entries()) {
    const rest = items.filter((_, at) => at !== index);
    for (const after of arrangements(rest, size - 1)) yield [item, ...after];
  }
}

/** Reads a field of the body as text, or `merchantId`; `undefined` where the body is no JSON object. */
function fieldReader(
  rawBody: Buffer,
  merchantId: string | undefined,
): ((field: string) => string) | undefined {
  let payload: Record<string, unknown>;
  try {
    payload = JSON.parse(rawBody.toString("utf8").replace(/^\uFEFF/, "")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (typeof payload !== "object" || payload === null) return undefined;
  return (field) => {
    if (field === "merchantId") return merchantId ?? "";
    const path = ["topic", "timestamp", "type"].includes(field) ? [field] : ["data", ...field.split(".")];
    const value = path.reduce<unknown>(
      (inner, key) => (inner as Record<string, unknown> | null | undefined)?.[key],
      payload,
    );
    if (value === undefined || value === null) return "";
    return typeof value === "string" ? value : JSON.stringify(value);
  };
}
