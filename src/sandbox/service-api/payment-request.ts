import { z } from "zod";
import { type PaymentRequest } from "../state/payments.js";

/** Codes of ISO 4217, as this Node knows them; older ones that a bank may still meet are among them. */
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

/** What a merchant sends to create a payment (interface document, 4.1). Further fields are ignored. */
const strictSchema = requestOf({
  value,
  currency: currency.refine((code) => currencies.has(code), {
    error: "is not a currency of ISO 4217; codes are three letters such as KMF or EUR",
  }),
  cancelUrl: address(),
  successUrl: address(),
});

/** What can be made sense of all the same. */
const lenientSchema = requestOf({
  value: z.preprocess((given) => (typeof given === "number" ? String(given) : given), value),
  currency: z.preprocess((given) => (typeof given === "string" ? given.toUpperCase() : given), currency),
  cancelUrl: address().optional(),
  successUrl: address().optional(),
});

function requestOf<Value extends z.ZodType<string>, Url extends z.ZodType<string | undefined>>(fields: {
  value: Value;
  currency: z.ZodType<string>;
  cancelUrl: Url;
  successUrl: Url;
}) {
  const { cancelUrl, successUrl, ...total } = fields;
  return z.object(
    {
      purchase: z.object(
        { total: z.object(total, must("be an object with value and currency")) },
        must("be an object with total"),
      ),
      clientId,
      cancelUrl,
      successUrl,
    },
    must("be a JSON object with purchase, clientId, cancelUrl and successUrl"),
  );
}

/** The request, or everything that is wrong with it, in words for the developer who sent it. */
export function readPaymentRequest(
  body: unknown,
  { strict }: { strict: boolean },
): { request: PaymentRequest } | { detail: string } {
  const result = (strict ? strictSchema : lenientSchema).safeParse(body);
  if (!result.success) {
    const sentences = result.error.issues.map(
      ({ path, message }) => `${path.length === 0 ? "The body" : path.join(".")} ${message}.`,
    );
    return { detail: sentences.join(" ") };
  }
  const { purchase, clientId: id, ...urls } = result.data;
  const { successUrl = urls.cancelUrl, cancelUrl = successUrl } = urls;
  if (successUrl === undefined || cancelUrl === undefined) return { detail: "successUrl is missing." };
  return { request: { total: purchase.total, clientId: id, cancelUrl, successUrl } };
}

function address() {
  return z
    .string(must("be an absolute http or https address"))
    .refine(isWebAddress, { error: "must be an absolute http or https address" });
}

function isWebAddress(text: string): boolean {
  // The URL parser drops line breaks silently; an address that holds one is refused rather than mended.
  if (!/^https?:\/\/\S+$/i.test(text) || /\p{Cc}/u.test(text)) return false;
  return URL.canParse(text);
}

/** One message for a missing field and one for a wrong type. */
function must(rule: string) {
  return {
    error: (issue: { input?: unknown }) =>
      issue.input === undefined ? `is missing; it must ${rule}` : `must ${rule}`,
  };
}
