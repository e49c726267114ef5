import { TillkitError } from "../../errors/index.js";
import { sortableTime } from "../../shared/date-time.js";
import { describeUnknown } from "../../shared/unknown-names.js";
import { isWholeNumber } from "../../shared/whole-number.js";

/**
 * Returns the time of a query in the form of stored times, ISO 8601 UTC.
 *
 * @throws TillkitError `query_invalid`
 */
export function queryTime(name: string, time: Date | undefined): string | undefined {
  if (time === undefined) return undefined;
  if (time instanceof Date && !Number.isNaN(time.getTime())) return sortableTime(time);
  throw queryError(`${name} must be a Date.`);
}

/**
 * Returns both times of a query.
 *
 * @throws TillkitError `query_invalid`
 */
export function queryTimes(query: { from?: Date | undefined; to?: Date | undefined }) {
  const [from, to] = [queryTime("from", query.from), queryTime("to", query.to)];
  // Such a query would find nothing, which would look like a result.
  if (from !== undefined && to !== undefined && from >= to) throw queryError("from must be before to.");
  return { from, to };
}

/**
 * Refuses an unknown condition, because a misspelt condition would select too many records.
 *
 * @throws TillkitError `query_invalid`
 */
export function refuseUnknown(query: object, known: object): void {
  const unknown = describeUnknown(query, known);
  if (unknown !== undefined) throw queryError(unknown);
}

/** Throws `query_invalid` unless `limit` is a whole number from 1 to `max`. */
export function expectLimit(limit: unknown, max: number): void {
  if (!isWholeNumber(limit, 1, max)) throw queryError(`limit must be a whole number from 1 to ${max}.`);
}

/** Returns the cursor of the page that begins after this position. */
export function cursorAt(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/**
 * Returns the position in a cursor.
 *
 * @throws TillkitError `query_invalid` if the cursor was not made for this kind of query
 */
export function cursorPosition<Position>(
  cursor: string,
  isPosition: (position: unknown) => position is Position,
): Position {
  try {
    const text = Buffer.from(cursor, "base64url").toString();
    const position: unknown = JSON.parse(text);
    // All ids are ASCII without backslashes. MySQL cannot compare other text with them.
    if (/^[\x20-\x5b\x5d-\x7e]*$/.test(text) && isPosition(position)) return position;
  } catch {
    // The cursor was not made by this kit. The error is thrown below.
  }
  throw queryError("cursor must be the one that came with the page before.");
}

/** Returns the error of a query that cannot be run. */
export function queryError(message: string): TillkitError {
  return new TillkitError("query_invalid", message);
}
