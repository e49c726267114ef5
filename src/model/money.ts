import { TillkitError } from "../errors/index.js";
import { minorUnit } from "./currencies.js";

/** What is wrong with an amount, as a code and a sentence that names the likely mistake. */
export interface AmountProblem {
  code: "amount_invalid" | "currency_invalid";
  message: string;
}

/** An amount without trailing zero decimals, or nothing when it is none. */
export type ParsedAmount = { ok: true; whole: string; decimals: string } | { ok: false };

/** Most decimals that any currency of the table has, and so the most of any amount. */
const mostDecimals = 4;
const amount = /^(0|[1-9]\d{0,15})(?:\.(\d{1,4}))?$/;

/** Reads a decimal string: at most 16 digits, then at most 4 decimals. Exact; no float is ever made of it. */
export function parseAmount(value: unknown): ParsedAmount {
  const parts = typeof value === "string" ? amount.exec(value) : null;
  if (parts === null) return { ok: false };
  return { ok: true, whole: parts[1]!, decimals: (parts[2] ?? "").replace(/0+$/, "") };
}

/** Whether the value is a decimal string that {@link parseAmount} reads. Zero is one. */
export function isAmount(value: unknown): value is string {
  return typeof value === "string" && amount.test(value);
}

/**
 * The shortest way to write the same amount: `"1475.00"` is `"1475"`.
 *
 * @throws TillkitError `amount_invalid`
 */
export function canonicalValue(value: string): string {
  if (isAmount(value) && !value.includes(".")) return value;
  const parsed = parseAmount(value);
  if (!parsed.ok) throw new TillkitError("amount_invalid", "The value is not a decimal string.");
  return parsed.decimals === "" ? parsed.whole : `${parsed.whole}.${parsed.decimals}`;
}

/** Whether two decimal strings are the same amount. What is no amount equals nothing, itself included. */
export function sameValue(a: string, b: string): boolean {
  if (a === b) return isAmount(a);
  return isAmount(a) && isAmount(b) && canonicalValue(a) === canonicalValue(b);
}

/** Whether the amount is above zero; `false` for what is no amount. */
export function isPositive(value: string): boolean {
  return isAmount(value) && canonicalValue(value) !== "0";
}

/** Whether the amount needs no more decimals than the currency has. Trailing zeros do not count. */
export function fitsCurrency(value: string, currency: string): boolean {
  if (!value.includes(".")) return isAmount(value);
  const parsed = parseAmount(value);
  return parsed.ok && parsed.decimals.length <= (minorUnit(currency) ?? mostDecimals);
}

/**
 * The amount in the currency's minor unit: `("10.50", "EUR")` is `1050n`. Ten-thousandths where the currency has no
 * minor unit or is not in the table.
 *
 * @throws TillkitError `amount_invalid` when the value is no amount or has too many decimals
 */
export function minorUnits(value: string, currency: string): bigint {
  const parsed = parseAmount(value);
  const unit = minorUnit(currency) ?? mostDecimals;
  if (!parsed.ok || parsed.decimals.length > unit)
    throw new TillkitError("amount_invalid", "The value cannot be written in the currency's minor unit.");
  return BigInt(parsed.whole + parsed.decimals.padEnd(unit, "0"));
}

/**
 * What is wrong with an amount to collect, or `undefined`. Above zero, exact, and within the currency's minor unit.
 * A currency newer than the table is allowed.
 */
export function checkAmount(total: unknown): AmountProblem | undefined {
  const value = entry(total, "value");
  if (!isAmount(value) || !isPositive(value))
    return { code: "amount_invalid", message: `total.value ${valueMistake(value)}` };
  const currency = entry(total, "currency");
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
    return { code: "currency_invalid", message: `total.currency ${currencyMistake(currency)}` };
  if (fitsCurrency(value, currency)) return undefined;
  const unit = minorUnit(currency) ?? mostDecimals;
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

function valueMistake(value: unknown): string {
  if (isAmount(value)) return "must be above zero.";
  if (typeof value === "number" || typeof value === "bigint")
    return `must be a string, because numbers lose decimals: write "1475", not 1475.`;
  if (typeof value !== "string" || value === "") return 'must be a decimal string such as "1475" or "10.50".';
  if (value.includes(",")) return 'must not contain a comma: write "10.50", and "1475" without separators.';
  if (/^[+-]/.test(value)) return "must have no sign, and be above zero.";
  if (/^\d+(?:\.\d+)?e[+-]?\d+$/i.test(value)) return "must be written without an exponent.";
  if (/^0\d/.test(value)) return "must not begin with a zero that means nothing.";
  if (/^\d{17}/.test(value)) return "has more than 16 digits.";
  if (/^\d+\.\d{5}/.test(value)) return `has more than ${mostDecimals} decimals.`;
  return 'must be a decimal string such as "1475" or "10.50", without spaces or symbols.';
}
