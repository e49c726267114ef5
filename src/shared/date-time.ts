/** One day in milliseconds. */
export const dayMs = 24 * 60 * 60 * 1000;

const zero = 0x30;
const form =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Returns whether the text is a date-time of RFC 3339: an existing day, a time with seconds, and an offset.
 * Seconds may have up to nine decimals. Second 60 is valid only at the end of an hour, where a leap second
 * can be.
 */
export function isDateTime(text: string): boolean {
  if (!form.test(text)) return false;
  const day = twoDigits(text, 8);
  const isDay = day >= 1 && day <= daysIn(Number(text.slice(0, 4)), twoDigits(text, 5));
  return isDay && (twoDigits(text, 17) < 60 || twoDigits(text, 14) === 59);
}

/** Returns a time as ISO 8601 UTC. Limits the year to four digits, because stores compare times as text. */
export function sortableTime(time: Date): string {
  return new Date(Math.min(Math.max(time.getTime(), firstMs), lastMs)).toISOString();
}

const firstMs = Date.parse("0000-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/** Returns the UTC offset of an RFC 3339 date-time in milliseconds: 10,800,000 for `+03:00`, 0 for `Z`. */
export function offsetMsOf(text: string): number {
  if (text.endsWith("Z") || text.endsWith("z")) return 0;
  const minutes = twoDigits(text, text.length - 5) * 60 + twoDigits(text, text.length - 2);
  return (text.at(-6) === "-" ? -minutes : minutes) * 60_000;
}

/** Returns the two-digit number at this position. A match with groups would allocate nine strings. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  if (month === 4 || month === 6 || month === 9 || month === 11) return 30;
  return month >= 1 && month <= 12 ? 31 : 0;
}
