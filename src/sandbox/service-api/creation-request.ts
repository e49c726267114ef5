import { z } from "zod";
import { fitsCurrency } from "../../model/money.js";
import { type NewPayment } from "../state/payments.js";

/** The codes of ISO 4217 that this version of Node knows, including older ones. */
const currencies = new Set(Intl.supportedValuesOf("currency"));

const value = z
  .string(must('be a string such as "1475" or "10.50", not a number'))
  .regex(/^(0|[1-9]\d{0,15})(\.\d{1,4})?$/, {
    error: 'must be a decimal string such as "1475" or "10.50": digits, and at most four decimals',
    abort: true,
  })
  .refine((text) => /[1-9]/.test(text), { error: "must be above zero" });
const currency = z
  .string(must('be three capital letters such as "KMF"'))
  .regex(/^[A-Z]{3}$/, { error: 'must be three capital letters such as "KMF"', abort: true });
const clientId = z
  .string(must("be a string that you generate for each payment"))
  .regex(/^[^\p{Cc}]{1,255}$/u, {
    error: "must have 1 to 255 characters, none of them a control character",
  });
const webAddress = z
  .string(must("be an absolute http or https address"))
  .refine(isWebAddress, { error: "must be an absolute http or https address" })
  .meta({ format: "uri" });

/** Accepts a request that the interface document allows (4.1), and ignores other fields. */
const strictSchema = schemaOf(
  value,
  currency.refine((code) => currencies.has(code), {
    error: "is not a currency of ISO 4217; codes are three letters such as KMF or EUR",
  }),
  webAddress,
);

/** Also accepts an amount as a number, a currency in lower case, and missing return addresses. */
const lenientSchema = schemaOf(
  z.preprocess((given) => (typeof given === "number" ? String(given) : given), value),
  z.preprocess((given) => (typeof given === "string" ? given.toUpperCase() : given), currency),
  webAddress.optional(),
);

function schemaOf<Text extends z.ZodType<string>, Url extends z.ZodType<string | undefined>>(
  value: Text,
  currency: Text,
  url: Url,
) {
  const total = z.object({ value, currency }, must("be an object with value and currency"));
  const purchase = z.object({ total }, must("be an object with total"));
  return z.object(
    { purchase, clientId, cancelUrl: url, successUrl: url },
    must("be a JSON object with purchase, clientId, cancelUrl and successUrl"),
  );
}

/** Returns the JSON Schema of the request in strict mode. The schema accepts unknown currencies. */
export function creationRequestJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(strictSchema, { io: "input" });
  return schema;
}

/** Returns the payment to create, or a sentence for each problem of the request. */
export function readCreationRequest(
  body: unknown,
  { strict }: { strict: boolean },
): { request: NewPayment } | { detail: string } {
  const result = (strict ? strictSchema : lenientSchema).safeParse(body);
  if (!result.success) {
    const sentences = result.error.issues.map(
      ({ path, message }) => `${path.length === 0 ? "The body" : path.join(".")} ${message}.`,
    );
    return { detail: sentences.join(" ") };
  }
  const { purchase, clientId: id, ...urls } = result.data;
  const { value: amount, currency: code } = purchase.total;
  if (strict && !fitsCurrency(amount, code))
    return { detail: `purchase.total.value must have no more decimals than ${code} has, not ${amount}.` };
  const { successUrl = urls.cancelUrl, cancelUrl = successUrl } = urls;
  if (successUrl === undefined || cancelUrl === undefined) return { detail: "successUrl is missing." };
  return { request: { clientId: id, total: purchase.total, cancelUrl, successUrl } };
}

function isWebAddress(text: string): boolean {
  // The URL parser removes line breaks without an error, so an address that contains one is refused here.
  return /^https?:\/\/\S+$/i.test(text) && !/\p{Cc}/u.test(text) && URL.canParse(text);
}

/** Returns one message for a missing field and one for a wrong type. */
function must(rule: string) {
  return {
    error: (issue: { input?: unknown }) =>
      issue.input === undefined ? `is missing; it must ${rule}` : `must ${rule}`,
  };
}
