// Changes to the bytes of a body, without regard to their meaning.

const spaces = ["", "", "", " ", "\n", "\t", "\r\n", "  "];

export const space = (random) => () => random.pick(spaces);

const insert = (body, at, bytes) => Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);

/** Bytes that decoders treat differently: cut sequences, overlong forms, a byte order mark, halves of a character. */
const odd = [
  "ff",
  "c080",
  "c3",
  "e2ff",
  "eda080",
  "f0808080",
  "efbbbf",
  "00",
  "0a",
  "2c",
  "22",
  "5c",
  "7d",
  "c2a0",
  "e280a8",
].map((hex) => Buffer.from(hex, "hex"));

export const byteMutations = {
  flipBit(body, random) {
    if (body.length === 0) return body;
    const copy = Buffer.from(body);
    copy[random.below(copy.length)] ^= 1 << random.below(8);
    return copy;
  },
  otherByte(body, random) {
    if (body.length === 0) return body;
    const copy = Buffer.from(body);
    copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  truncate: (body, random) => body.subarray(0, random.below(body.length + 1)),
  behead: (body, random) => body.subarray(1 + random.below(8)),
  append: (body, random) =>
    Buffer.concat([body, random.chance(2) ? Buffer.from(random.pick([" ", "\n", "\0", "{}", "//"])) : body]),
  insertOdd: (body, random) => insert(body, random.below(body.length + 1), random.pick(odd)),
  dropByte(body, random) {
    const at = random.below(body.length + 1);
    return Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
  },
  /** Repeats a piece of the body. */
  repeatPiece(body, random) {
    const at = random.below(body.length + 1);
    return insert(body, at, body.subarray(at, at + 1 + random.below(40)));
  },
  asUtf16: (body) => Buffer.from(body.toString("utf8"), "utf16le"),
  asLatin1: (body) => Buffer.from(body.toString("utf8"), "latin1"),
};
