import { formatAmount } from "../../../pages/format.js";
import { type Html, html } from "../../../pages/html.js";

/** Returns an amount with its currency, in the form of the checkout page. */
export function amountOf(total: { value: string; currency: string }): string {
  return `${formatAmount(total, "en")}\u00a0${total.currency}`;
}

/** Returns a time in UTC for people, with the exact value for programs. */
export function moment(timestamp: string | Date): Html {
  const date = new Date(timestamp);
  const style = { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" } as const;
  const text = new Intl.DateTimeFormat("en-GB", style).format(date);
  return html`<time datetime="${date.toISOString()}">${text} UTC</time>`;
}

/** Returns the time of day in UTC, with its exact value for programs. */
export function timeOfDay(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${date.toISOString().slice(11, 19)} UTC</time>`;
}

/** Returns a number of milliseconds with its unit, joined by a no-break space. */
export function milliseconds(ms: number): string {
  return `${ms.toLocaleString("en-GB")}\u00a0ms`;
}

/** Returns a span of time in its two largest units: `2 days, 3 hours`. */
export function timeSpan(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    { unit: "day", count: Math.floor(seconds / 86_400) },
    { unit: "hour", count: Math.floor(seconds / 3600) % 24 },
    { unit: "minute", count: Math.floor(seconds / 60) % 60 },
    { unit: "second", count: seconds % 60 },
  ];
  const shown = parts.filter(({ count }) => count > 0).slice(0, 2);
  const format = ({ unit, count }: (typeof parts)[number]): string =>
    count.toLocaleString("en-GB", { style: "unit", unit, unitDisplay: "long" });
  return (shown.length === 0 ? parts.slice(-1) : shown).map(format).join(", ");
}
