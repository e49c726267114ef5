import { formatDecimal } from "../../pages/format.js";
import { type Language } from "../../pages/language.js";
import { type Money } from "../../model/payment.js";
import { translations } from "./translations.js";

export type ReportText = ReturnType<typeof reportText>;

/** Returns the translations of one language, and functions that write numbers without rounding. */
export function reportText(language: Language) {
  const value = (decimal: string): string => formatDecimal(decimal, language).replace("-", "\u2212");
  return {
    ...translations[language],
    value,
    count: (count: number) => value(String(count)),
    money: (money: Money) => `${value(money.value)}\u00a0${money.currency}`,
  };
}

/** Formats a time: `2024-05-10 10:05 UTC`. */
export function formatTime(time: string): string {
  return `${time.slice(0, 10)}\u00a0${time.slice(11, 16)}\u00a0UTC`;
}

/**
 * Returns the first and the last day of a half-open period, or its only day. Returns times if the period does
 * not begin and end at midnight UTC.
 */
export function formatPeriod({ from, to }: { from: string; to: string }): string[] {
  const isDay = (time: string): boolean => time.endsWith("T00:00:00.000Z");
  if (!isDay(from) || !isDay(to)) return [formatTime(from), formatTime(to)];
  const last = new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
  const first = from.slice(0, 10);
  return first === last ? [first] : [first, last];
}
