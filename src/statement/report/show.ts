import { type ReportLanguage } from "./texts.js";

/** A decimal string with the separators of the language; the digits are those of the text itself. */
export function showValue(value: string, language: ReportLanguage): string {
  const [, sign = "", whole = "", decimals = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  if (whole === "") return value;
  const [group, point] = language === "fr" ? ["\u202f", ","] : [",", "."];
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group);
  return `${sign && "\u2212"}${grouped}${decimals && point + decimals}`;
}

/** A whole number: `1,000,000`. */
export function showCount(count: number, language: ReportLanguage): string {
  return showValue(String(count), language);
}

/** An amount: the value, a space that does not break, the code. */
export function showMoney(
  { value, currency }: { value: string; currency: string },
  language: ReportLanguage,
): string {
  return `${showValue(value, language)}\u00a0${currency}`;
}

/** `2024-05-10 10:05 UTC`; a day alone at midnight. */
export function showTime(time: string): string {
  const [, day = "", clock = ""] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(time) ?? [];
  return `${day}\u00a0${clock}\u00a0UTC`;
}

/** The first and the last day of a half-open period, or one alone; with the times where it does not end at midnight. */
export function showPeriod({ from, to }: { from: string; to: string }): string[] {
  const isDay = (time: string): boolean => time.endsWith("T00:00:00.000Z");
  if (!isDay(from) || !isDay(to)) return [showTime(from), showTime(to)];
  const last = new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
  const first = from.slice(0, 10);
  return first === last ? [first] : [first, last];
}
