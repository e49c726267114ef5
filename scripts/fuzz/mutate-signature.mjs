// Changes to the signature header. A value is a string, a list (the header arrived several times) or `undefined`.

const hex = "0123456789abcdefABCDEF";

export const signatureMutations = {
  /** Changes the case of digits, which has no meaning in hexadecimal. */
  otherCase: (signature, random) =>
    Array.from(signature, (digit) => (random.chance(2) ? digit.toUpperCase() : digit)).join(""),
  listOfOne: (signature) => [signature],
  otherDigit(signature, random) {
    const at = random.below(signature.length);
    return signature.slice(0, at) + hex[random.below(hex.length)] + signature.slice(at + 1);
  },
  flipBit(signature, random) {
    const bytes = Buffer.from(signature, "hex");
    bytes[random.below(bytes.length)] ^= 1 << random.below(8);
    return bytes.toString("hex");
  },
  truncate: (signature, random) => signature.slice(0, random.below(signature.length)),
  extend: (signature, random) => signature + random.pick(["0", "00", signature, "\n", " ", "\0", ";", "=="]),
  prefix: (signature, random) =>
    random.pick(["0x", "sha256=", "v1=", " ", "\t", "0", "00", "+", "-"]) + signature,
  insert(signature, random) {
    const at = random.below(signature.length + 1);
    return (
      signature.slice(0, at) +
      random.pick([" ", "g", ":", ",", "\0", "\u00a0", "０", "ａ"]) +
      signature.slice(at)
    );
  },
  twice: (signature, random) =>
    random.pick([
      [signature, signature],
      `${signature},${signature}`,
      `${signature}, ${signature}`,
      [signature, ""],
    ]),
  withForeign: (signature, random, foreign) =>
    random.pick([[foreign, signature], [signature, foreign], `${foreign},${signature}`]),
  foreign: (_signature, _random, foreign) => foreign,
  base64: (signature, random) =>
    Buffer.from(signature, "hex").toString(random.chance(2) ? "base64" : "base64url"),
  reversed: (signature) => Array.from(signature).toReversed().join(""),
  fullWidth: (signature) =>
    Array.from(signature, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)).join(""),
  nothing: (_signature, random) => random.pick([undefined, "", [], " ", "null", "undefined"]),
  zeros: (signature, random) => random.pick(["0", "f"]).repeat(signature.length),
};
