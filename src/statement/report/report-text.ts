import { formatDecimal } from "../../pages/format.js";
import { type Language } from "../../pages/language.js";
import { reportTranslations } from "./translations.js";

/** The translations of one language, and its formats for numbers. */
export type ReportText = ReturnType<typeof reportText>;

/** Returns the translations and the formats of a language. */
export function reportText(language: Language) {
  const value = (decimal: string): string => formatDecimal(decimal, language).replace("-", "\u2212");
  return {
    ...reportTranslations[language],
    /** Formats a decimal string, with all its decimals. */
    value,
    /** Formats a whole number: `1,000,000`. */
    count: (count: number): string => value(String(count)),
    /** Formats an amount: the value, a space that does not break, the code. */
    money: (money: { value: string; currency: string }): string =>
      `${value(money.value)}\u00a0${money.currency}`,
  };
}

/** Formats a time: `2024-05-10 10:05 UTC`. */
export function formatTime(time: string): string {
  const [, day = "", clock = ""] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(time) ?? [];
  return `${day}\u00a0${clock}\u00a0UTC`;
}

/** Returns the first and the last day of a half-open period, or its only day; with times where it does not end at midnight. */
export function formatPeriod({ from, to }: { from: string; to: string }): string[] {
  const isDay = (time: string): boolean => time.endsWith("T00:00:00.000Z");
  if (!isDay(from) || !isDay(to)) return [formatTime(from), formatTime(to)];
  const last = new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
  const first = from.slice(0, 10);
  return first === last ? [first] : [first, last];
}
