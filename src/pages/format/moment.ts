import { type Html, html } from "../html.js";
import { type Language } from "../language.js";

const locales: Readonly<Record<Language, string>> = { en: "en-GB", fr: "fr-FR" };

/** A time for people, in UTC as the interface writes times, and exact for programs. */
export function moment(timestamp: string | Date, language: Language): Html {
  const date = new Date(timestamp);
  const text = new Intl.DateTimeFormat(locales[language], {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "UTC",
  }).format(date);
  return html`<time datetime="${date.toISOString()}">${text} UTC</time>`;
}

/** So many milliseconds, with the unit that cannot be torn off. */
export function milliseconds(ms: number, language: Language): string {
  return `${new Intl.NumberFormat(locales[language]).format(ms)}\u00A0ms`;
}

/** A span of time in its two largest units: `2 days, 3 hr`. */
export function timeSpan(ms: number, language: Language): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    { unit: "day", count: Math.floor(seconds / 86_400) },
    { unit: "hour", count: Math.floor(seconds / 3600) % 24 },
    { unit: "minute", count: Math.floor(seconds / 60) % 60 },
    { unit: "second", count: seconds % 60 },
  ];
  const told = parts.filter(({ count }) => count > 0).slice(0, 2);
  return (told.length === 0 ? [parts.at(-1)!] : told)
    .map(({ unit, count }) =>
      new Intl.NumberFormat(locales[language], { style: "unit", unit, unitDisplay: "long" }).format(count),
    )
    .join(", ");
}
