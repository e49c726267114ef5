import { type Translations, translations } from "./translations.js";

/** Languages of the report. */
export type ReportLanguage = keyof typeof translations;

/** The translations of one language, and its formats for numbers. */
export interface ReportText extends Translations {
  /** Formats a decimal string. The digits stay as they are, so nothing is rounded. */
  value(decimal: string): string;
  /** Formats a whole number: `1,000,000`. */
  count(count: number): string;
  /** Formats an amount: the value, a space that does not break, the code. */
  money(money: { value: string; currency: string }): string;
}

/** Returns the translations and formats of a language. */
export function reportText(language: ReportLanguage): ReportText {
  const point = language === "fr" ? "," : ".";
  const value = (decimal: string): string => {
    const [, sign = "", whole = "", decimals = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
    if (whole === "") return decimal;
    const grouped = BigInt(whole).toLocaleString(language);
    return `${sign && "\u2212"}${grouped}${decimals && point + decimals}`;
  };
  return {
    ...translations[language],
    value,
    count: (count) => value(String(count)),
    money: (money) => `${value(money.value)}\u00a0${money.currency}`,
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
