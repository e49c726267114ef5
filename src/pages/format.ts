import { type Money } from "../model/payment.js";
import { type Html, html } from "./html.js";
import { type Language } from "./language.js";

const locales: Readonly<Record<Language, string>> = { en: "en-GB", fr: "fr-FR" };

/**
 * Returns an amount with the separators of the language, a no-break space, and the currency's code. It has exactly the
 * decimals of the value: what `Intl` assumes about a currency differs from ISO 4217 for some.
 */
export function formatMoney({ value, currency }: Money, language: Language): string {
  return `${formatDecimal(value, language)}\u00a0${currency}`;
}

/**
 * Returns an amount without its code, as checkout pages show it: with the decimals that are customary for the currency,
 * and more of them only where the value has them.
 */
export function formatAmount({ value, currency }: Money, language: Language): string {
  const [whole = "", decimals = ""] = value.split(".");
  const kept = decimals.replace(/(?<!0)0+$/, "").padEnd(customaryDigits(currency), "0");
  return formatDecimal(kept === "" ? whole : `${whole}.${kept}`, language);
}

/** Returns a decimal string with the separators of the language, and with all of its decimals. */
export function formatDecimal(value: string, language: Language): string {
  const digits = value.split(".")[1]?.length ?? 0;
  const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  // As a string: a large amount does not fit a float.
  return new Intl.NumberFormat(language, exact).format(value as `${number}`);
}

function customaryDigits(currency: string): number {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/** Returns a time for people, in UTC as the service's interface writes times, with its exact value for programs. */
export function moment(timestamp: string | Date, language: Language): Html {
  const date = new Date(timestamp);
  const style = { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" } as const;
  const format = new Intl.DateTimeFormat(locales[language], style);
  return html`<time datetime="${date.toISOString()}">${format.format(date)} UTC</time>`;
}

/** Returns a number of milliseconds with its unit, joined by a no-break space. */
export function milliseconds(ms: number, language: Language): string {
  return `${new Intl.NumberFormat(locales[language]).format(ms)}\u00A0ms`;
}

/** Returns a span of time in its two largest units: `2 days, 3 hours`. */
export function timeSpan(ms: number, language: Language): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    { unit: "day", count: Math.floor(seconds / 86_400) },
    { unit: "hour", count: Math.floor(seconds / 3600) % 24 },
    { unit: "minute", count: Math.floor(seconds / 60) % 60 },
    { unit: "second", count: seconds % 60 },
  ];
  const shown = parts.filter(({ count }) => count > 0).slice(0, 2);
  const format = ({ unit, count }: (typeof parts)[number]): string =>
    new Intl.NumberFormat(locales[language], { style: "unit", unit, unitDisplay: "long" }).format(count);
  return (shown.length === 0 ? parts.slice(-1) : shown).map(format).join(", ");
}
