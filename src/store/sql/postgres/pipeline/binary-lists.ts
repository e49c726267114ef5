/** The element types of a list, with their numbers in PostgreSQL, which never change. */
const types = { bytea: 17, text: 25 };

/** The number of bytes before all values, and the number of bytes before each value. */
const headBytes = 20;
const lengthBytes = 4;
const isNull = -1;

/**
 * Returns a list of strings or of bytes in PostgreSQL's binary format, or `undefined` for other lists. The
 * text format is longer: two digits for each byte, and two characters for each quote and backslash. pg sends
 * a Buffer as binary.
 */
export function binaryList(values: readonly unknown[]): Buffer | undefined {
  const type = typeOf(values);
  if (type === undefined) return undefined;
  const known = values as readonly (string | Uint8Array | null | undefined)[];
  const list = Buffer.allocUnsafe(
    known.reduce((bytes, value) => bytes + lengthBytes + bytesOf(value), headBytes),
  );
  let at = 0;
  // The dimensions, whether nulls may appear, the type, the length, and the number of the first element.
  for (const number of [1, 1, type, values.length, 1]) at = list.writeInt32BE(number, at);
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
