import { TillkitError } from "../errors/index.js";

/** A time of a query as the store compares it. Throws `query_invalid`. */
export function timeOf(name: string, time: Date | undefined): string | undefined {
  if (time === undefined) return undefined;
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time.toISOString();
  throw invalid(`${name} must be a Date.`);
}

/** The error of a query that nothing can be asked with. */
export function invalid(message: string): TillkitError {
  return new TillkitError("query_invalid", message);
}
