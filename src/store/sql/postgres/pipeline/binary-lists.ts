/** The types of PostgreSQL that a list may be of, by their numbers, which never change. */
const types = { bytea: 17, text: 25 };

/** What stands before the values, and before each of them. */
const headBytes = 20;
const lengthBytes = 4;
const isNull = -1;

/**
 * A list of texts or of bytes in the binary format of PostgreSQL; nothing for another one. Its text format takes bytes twice
 * as hexadecimal digits, and every quote and backslash of a text twice. For pg's own clients, which send a Buffer as binary.
 */
export function binaryList(values: readonly unknown[]): Buffer | undefined {
  const type = typeOf(values);
  if (type === undefined) return undefined;
  const known = values as readonly (string | Uint8Array | null | undefined)[];
  const list = Buffer.allocUnsafe(
    known.reduce((bytes, value) => bytes + lengthBytes + bytesOf(value), headBytes),
  );
  let at = 0;
  // One dimension, nulls perhaps, the type, how many, and from which number on they are counted.
  for (const word of [1, 1, type, values.length, 1]) at = list.writeInt32BE(word, at);
  for (const value of known) {
    at = list.writeInt32BE(value === null || value === undefined ? isNull : bytesOf(value), at);
    if (typeof value === "string") at += list.write(value, at);
    else if (value) {
      list.set(value, at);
      at += value.length;
    }
  }
  return list;
}

function bytesOf(value: string | Uint8Array | null | undefined): number {
  return typeof value === "string" ? Buffer.byteLength(value) : (value?.length ?? 0);
}

function typeOf(values: readonly unknown[]): number | undefined {
  let type: number | undefined;
  for (const value of values) {
    if (value === null || value === undefined) continue;
    const own =
      typeof value === "string" ? types.text : value instanceof Uint8Array ? types.bytea : undefined;
    if (own === undefined || (type !== undefined && own !== type)) return undefined;
    type = own;
  }
  return type;
}
