import { isTillkitError, TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { isWholeNumber } from "../../../shared/whole-number.js";
import { type StoredRecord } from "../../adapter.js";

/** Returns the answer of `read` or `scan`. Throws `adapter_defective` if it is not an array of records. */
export function checkRecords(operation: string, answer: unknown): readonly StoredRecord[] {
  if (!Array.isArray(answer))
    throw defect(`${operation} returned ${shown(answer)}, and must return an array of records.`);
  for (const record of answer as unknown[]) {
    const { key, value, version } = Object(record) as Record<keyof StoredRecord, unknown>;
    const wrong = (name: string, got: unknown, type: string): TillkitError =>
      defect(
        `${operation} returned a record whose ${name} is ${shown(got)}, and must be ${type}.`,
        conversion,
      );
    if (typeof key !== "string") throw wrong("key", key, "a string");
    if (typeof value !== "string") throw wrong("value", value, "a string");
    if (!isWholeNumber(version, 1)) throw wrong("version", version, "a whole number from 1");
  }
  return answer as StoredRecord[];
}

/**
 * Returns the answer of an operation. Throws `adapter_defective` if the answer does not have this type, or is
 * no finite number.
 */
export function checkType<T>(operation: string, answer: T, type: "boolean" | "number"): T {
  if (typeof answer === type && (type !== "number" || Number.isFinite(answer))) return answer;
  throw defect(`${operation} returned ${shown(answer)}, and must return a ${type}.`);
}

/** Errors that mean a bug in the adapter's code. A database does not throw these. */
const bugs: readonly unknown[] = ["TypeError", "ReferenceError", "SyntaxError", "RangeError"];

/** Returns the kit's error for an error that an operation of an adapter threw. */
export function failureOf(operation: string, cause: unknown): TillkitError {
  if (isTillkitError(cause)) return cause;
  const { name, cause: inner } = Object(cause) as Partial<Error>;
  // A TypeError with a cause is not a bug: `fetch` rejects with such an error if the network fails.
  if (bugs.includes(name) && inner === undefined)
    return defect(`${operation} threw a ${name}${because(cause)}`, undefined, cause);
  const message = `The database did not do what was asked${because(cause)}`;
  return new TillkitError("store_unavailable", message, { cause });
}

function defect(what: string, fix?: string, cause?: unknown): TillkitError {
  const options = { ...(fix !== undefined && { fix }), ...(cause !== undefined && { cause }) };
  return new TillkitError("adapter_defective", `The adapter's ${what}`, options);
}

/** The fix for a value of the wrong type. */
const conversion =
  "Convert it in the adapter: drivers return binary columns as Buffers (String(…)), 64-bit integers as text or BigInt (Number(…)), and JSON columns as objects (JSON.stringify(…)).";

/** Describes a value. Shows only short values, because the content may be confidential. */
export function shown(value: unknown): string {
  if (ArrayBuffer.isView(value)) return "a Buffer";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  const text = String(value);
  if (typeof value === "function" || text.length > 20) return `a ${typeof value}`;
  return value === undefined || value === null ? text : `the ${typeof value} ${text}`;
}
