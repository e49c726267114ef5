import { types } from "node:util";

/**
 * Returns a Buffer of the same memory, or `undefined` for a value that is not bytes. Some frameworks pass a
 * `Uint8Array` or an `ArrayBuffer`, whose `toString` differs from that of a Buffer.
 */
export function asBuffer(value: unknown): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value;
  if (types.isUint8Array(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return types.isArrayBuffer(value) ? Buffer.from(value) : undefined;
}
