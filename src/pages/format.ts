import { type Money } from "../model/payment.js";

/**
 * Returns an amount with the separators of the language, a no-break space, and the currency's code. Keeps the
 * decimals of the value, because `Intl` differs from ISO 4217 for some currencies.
 */
export function formatMoney({ value, currency }: Money, language: string): string {
  return `${formatDecimal(value, language)}\u00a0${currency}`;
}

/**
 * Returns an amount without its currency's code, as checkout pages show amounts. The amount has the customary
 * decimals of the currency, and more only if further decimals are not zero.
 */
export function formatAmount({ value, currency }: Money, language: string): string {
  const [whole = "", decimals = ""] = value.split(".");
  const kept = decimals.replace(/(?<!0)0+$/, "").padEnd(customaryDigits(currency), "0");
  return formatDecimal(kept === "" ? whole : `${whole}.${kept}`, language);
}

/** Returns a decimal string with the separators of the language, and with all of its decimals. */
export function formatDecimal(value: string, language: string): string {
  const digits = value.split(".")[1]?.length ?? 0;
  const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  // The value stays a string, because a float cannot hold a large amount exactly.
  return new Intl.NumberFormat(language, exact).format(value as `${number}`);
}

function customaryDigits(currency: string): number {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}
