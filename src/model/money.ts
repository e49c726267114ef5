import { TillkitError } from "../errors/index.js";
import { minorUnit } from "./currencies.js";

/** The problem of an amount: a code, and a sentence that names the likely mistake. */
export interface AmountProblem {
  code: "amount_invalid" | "currency_invalid";
  message: string;
}

/** The parts of an amount, without trailing zero decimals. `ok: false` for a value that is not an amount. */
export type ParsedAmount = { ok: true; whole: string; decimals: string } | { ok: false };

/** The maximum number of decimals of any currency in the table. No amount has more. */
const maxDecimals = 4;
const amount = /^(0|[1-9]\d{0,15})(?:\.(\d{1,4}))?$/;

/** Reads a decimal string with at most 16 digits before the point and 4 after it. Nothing is rounded. */
export function parseAmount(value: unknown): ParsedAmount {
  const parts = typeof value === "string" ? amount.exec(value) : null;
  if (parts === null) return { ok: false };
  return { ok: true, whole: parts[1]!, decimals: (parts[2] ?? "").replace(/(?<!0)0+$/, "") };
}

/** Returns whether {@link parseAmount} can read the value. Zero is an amount. */
export function isAmount(value: unknown): value is string {
  return typeof value === "string" && amount.test(value);
}

/**
 * Returns the shortest form of the amount: `"1475"` for `"1475.00"`.
 *
 * @throws TillkitError `amount_invalid` if the value is not an amount
 */
export function canonicalValue(value: string): string {
  if (isAmount(value) && !value.includes(".")) return value;
  const parsed = parseAmount(value);
  if (!parsed.ok) throw new TillkitError("amount_invalid", "The value is not a decimal string.");
  return parsed.decimals === "" ? parsed.whole : `${parsed.whole}.${parsed.decimals}`;
}

/** Returns the text without its sign, which is a minus before the amount, or parentheses around it. */
export function readSign(text: string): { isNegative: boolean; unsigned: string } {
  const [, behind, inside] = /^\s*(?:[-\u2212]\s*(\S.*)|\((.*)\)\s*)$/s.exec(text) ?? [];
  const unsigned = behind ?? inside;
  return { isNegative: unsigned !== undefined, unsigned: (unsigned ?? text).trim() };
}

/**
 * Returns whether two decimal strings are the same amount. Returns `false` if one of them is not an amount.
 */
export function sameValue(a: string, b: string): boolean {
  if (a === b) return isAmount(a);
  return isAmount(a) && isAmount(b) && canonicalValue(a) === canonicalValue(b);
}

/** Returns whether the value is an amount above zero. */
export function isPositive(value: string): boolean {
  return isAmount(value) && canonicalValue(value) !== "0";
}

/**
 * Returns whether the value is an amount with no more decimals than {@link decimalOf} writes. Trailing zeros
 * do not count.
 */
export function fitsCurrency(value: string, currency: string): boolean {
  if (!value.includes(".")) return isAmount(value);
  const parsed = parseAmount(value);
  return parsed.ok && parsed.decimals.length <= (minorUnit(currency) ?? maxDecimals);
}

/**
 * Returns the amount in the currency's minor unit: `1050n` for `("10.50", "EUR")`. The unit is a
 * ten-thousandth for a currency that has no minor unit or is not in the table.
 *
 * @throws TillkitError `amount_invalid` if the value is not an amount or has too many decimals
 */
export function minorUnits(value: string, currency: string): bigint {
  const parsed = parseAmount(value);
  const unit = minorUnit(currency) ?? maxDecimals;
  if (!parsed.ok || parsed.decimals.length > unit)
    throw new TillkitError("amount_invalid", "The value cannot be written in the currency's minor unit.");
  return BigInt(parsed.whole + parsed.decimals.padEnd(unit, "0"));
}

/** Returns an amount of {@link minorUnits} as a decimal string with all decimals of the currency. */
export function decimalOf(units: bigint, currency: string): string {
  const places = minorUnit(currency) ?? maxDecimals;
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  return `${units < 0n ? "-" : ""}${whole}${places === 0 ? "" : `.${digits.slice(-places)}`}`;
}

/**
 * Returns the problem of an amount to collect, or `undefined`. The amount must be above zero and have no more
 * decimals than its currency. A currency that is not in the table is allowed.
 */
export function checkAmount(total: unknown): AmountProblem | undefined {
  const value = entry(total, "value");
  if (!isAmount(value) || !isPositive(value))
    return { code: "amount_invalid", message: `total.value ${valueMistake(value)}` };
  const currency = entry(total, "currency");
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
    return { code: "currency_invalid", message: `total.currency ${currencyMistake(currency)}` };
  if (fitsCurrency(value, currency)) return undefined;
  const unit = minorUnit(currency) ?? maxDecimals;
  const allowed = unit === 0 ? "no decimals" : `at most ${unit} decimals`;
  return {
    code: "amount_invalid",
    message: `total.value has too many decimals: ${currency} has ${allowed}.`,
  };
}

function entry(total: unknown, key: "value" | "currency"): unknown {
  return typeof total === "object" && total !== null ? Reflect.get(total, key) : undefined;
}

function currencyMistake(currency: unknown): string {
  return typeof currency === "string" && /^[A-Za-z]{3}$/.test(currency)
    ? `must be in capital letters: "${currency.toUpperCase()}".`
    : 'must be a code of ISO 4217 such as "KMF".';
}

/** Returns the problem of a value that is not an amount above zero, as the end of a sentence. */
export function valueMistake(value: unknown): string {
  if (isAmount(value)) return "must be above zero.";
  if (typeof value === "number" || typeof value === "bigint")
    return `must be a string, because numbers lose decimals: write "1475", not 1475.`;
  if (typeof value !== "string" || value === "") return 'must be a decimal string such as "1475" or "10.50".';
  if (/^[1-9]\d{0,2}(,\d{3})+$/.test(value))
    return `must be written without the comma: ${value.replaceAll(",", "")}.`;
  if (value.includes(",")) return 'must not contain a comma: write "10.50", and "1475" without separators.';
  if (/^[+-]/.test(value)) return "must have no sign, and be above zero.";
  if (/^\d+(?:\.\d+)?e[+-]?\d+$/i.test(value)) return "must be written without an exponent.";
  if (/^0\d/.test(value)) return "must not begin with an unnecessary zero.";
  if (/^\d{17}/.test(value)) return "has more than 16 digits.";
  if (/^\d+\.\d{5}/.test(value)) return `has more than ${maxDecimals} decimals.`;
  return 'must be a decimal string such as "1475" or "10.50", without spaces or symbols.';
}

/** Returns a text for people about the amount that is left after a refund. */
export function restText({ value, currency }: { value: string; currency: string }): string {
  return isPositive(value) ? `${value} ${currency} left` : "all of it has gone back";
}
