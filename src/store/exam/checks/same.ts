import assert from "node:assert/strict";

/**
 * Deep and strict equality of plain data. What the store answers is first rebuilt with this file's own Array and Object:
 * a runner that isolates modules (jest) gives native database drivers those of another realm, and strict equality
 * compares prototypes.
 */
export function same(got: unknown, expected: unknown): void {
  assert.deepEqual(rebuilt(got), rebuilt(expected));
}

function rebuilt(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, rebuilt);
  if (value instanceof Uint8Array || ArrayBuffer.isView(value))
    return { bytes: Buffer.from(value as Uint8Array).toString("hex") };
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rebuilt(inner)]));
}
