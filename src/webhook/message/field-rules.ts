import { z } from "zod";
import { isAmount } from "../../model/money.js";
import { type ReportedFields } from "../../model/payment-report.js";
import { type SignedField } from "../../model/signed-fields.js";
import { isDateTime } from "../../shared/date-time.js";

/** The schema of one field, and a description of valid values for error messages. */
export interface FieldRule<Value> {
  schema: z.ZodType<Value>;
  expected: string;
}

const unprintable = /[\p{Cc}\p{Surrogate}]/u;

/** Returns a schema for text with limits in UTF-16 units. zod's own `max` counts code points. */
const text = (min: number, max: number) =>
  z.string().refine((value) => value.length >= min && value.length <= max && !unprintable.test(value));

const dateTime = z.string().refine(isDateTime);
/** Returns `undefined` for null and empty, which mean that the field is missing. */
const blankToUndefined = (value: unknown) => (value === null || value === "" ? undefined : value);
/**
 * The rule of fields whose content the interface document does not specify. It checks only type and length.
 */
const note: FieldRule<string | undefined> = {
  schema: z.preprocess((value) => value ?? undefined, text(0, 256).optional()),
  expected: "text of at most 256 characters, or nothing",
};
const name: FieldRule<string> = { schema: text(1, 128), expected: "text of 1 to 128 characters" };
const time = "an RFC 3339 date-time";

/**
 * The rules of the interface document, sections 6.1 and 2.3. Other fields of a body are allowed and ignored.
 */
export const fieldRules: { readonly [Field in SignedField]: FieldRule<ReportedFields[Field]> } = {
  topic: name,
  timestamp: { schema: dateTime.optional(), expected: time },
  type: name,
  id: name,
  status: {
    schema: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/),
    expected: "1 to 64 characters of A-Z a-z 0-9 _ . -",
  },
  captured: { schema: z.boolean(), expected: "true or false" },
  "total.value": {
    schema: z.string().refine(isAmount),
    expected: 'a decimal string such as "1475" or "10.50"',
  },
  "total.currency": { schema: z.string().regex(/^[A-Za-z]{1,16}$/), expected: "1 to 16 letters" },
  submittedAt: {
    schema: z.preprocess(blankToUndefined, dateTime.optional()),
    expected: `${time}, or nothing`,
  },
  clientId: {
    schema: z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/),
    expected: "1 to 64 characters of A-Z a-z 0-9 . _ : -",
  },
  providerId: note,
  source: note,
};

const schemas = Object.fromEntries(Object.entries(fieldRules).map(([field, { schema }]) => [field, schema]));

/** The schema of all fields. For a valid body, one check of all fields is faster than a check for each. */
export const allFields = z.object(schemas) as unknown as z.ZodType<ReportedFields>;
