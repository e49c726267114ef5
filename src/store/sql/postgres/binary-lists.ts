/** The types of PostgreSQL that a list may be of, by their numbers, which never change. */
const types = { bytea: 17, text: 25 };

const headBytes = 20;
const isNull = -1;
let scratch = Buffer.allocUnsafe(65_536);

/**
 * A list of texts or of bytes in the binary format of PostgreSQL; nothing for another one. Its text format takes bytes twice
 * as hexadecimal digits, and every quote and backslash of a text twice. For pg's own clients, which send a Buffer as binary.
 */
export function binaryList(values: readonly unknown[]): Buffer | undefined {
  const type = typeOf(values);
  if (type === undefined) return undefined;
  let at = headBytes;
  for (const value of values as readonly (string | Uint8Array | null | undefined)[]) {
    if (value === null || value === undefined) {
      makeRoom(at + 4);
      scratch.writeInt32BE(isNull, at);
      at += 4;
      continue;
    }
    const isText = typeof value === "string";
    // A UTF-16 unit has at most three bytes.
    makeRoom(at + 4 + (isText ? value.length * 3 : value.length));
    let length: number;
    if (isText) length = scratch.write(value, at + 4, "utf8");
    else {
      length = value.length;
      scratch.set(value, at + 4);
    }
    scratch.writeInt32BE(length, at);
    at += 4 + length;
  }
  // One dimension, nulls perhaps, the type, how many, and from which number on they are counted.
  for (const [index, word] of [1, 1, type, values.length, 1].entries()) scratch.writeInt32BE(word, index * 4);
  return Buffer.from(scratch.subarray(0, at));
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

function makeRoom(bytes: number): void {
  if (bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafe(bytes * 2);
  scratch.copy(larger);
  scratch = larger;
}
