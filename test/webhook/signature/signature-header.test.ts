import { randomBytes } from "node:crypto";
import { fc } from "../../support/property.js";
import { hmacSignature, publicKeySignature } from "../../../src/webhook/signature/index.js";
import { readSignature } from "../../../src/webhook/signature/signature-header.js";
import { codeOf, messageOf, problemCodes, problemsOf } from "./refusal.js";

const rawBody = Buffer.from('{"a":1}');
const scheme = hmacSignature({ secret: randomBytes(32) });
const right = scheme.sign(rawBody);
const check = (value: string | string[] | undefined) =>
  codeOf(() => scheme.verify({ rawBody, headers: { "service-signature": value } }));

describe("the signature header", () => {
  it("is looked up in lower case, also if it was configured in another case", () => {
    const secret = randomBytes(32);
    const loud = hmacSignature({ secret, header: "X-PAY-Signature" });
    expect(loud.verify({ rawBody, headers: { "x-pay-signature": loud.sign(rawBody) } })).toBe(true);
  });

  it("may be written in upper case, and may be a list with one value", () => {
    expect(scheme.verify({ rawBody, headers: { "service-signature": right.toUpperCase() } })).toBe(true);
    expect(scheme.verify({ rawBody, headers: { "service-signature": [right] } })).toBe(true);
  });

  it.each([[undefined], [""], [[]]])("is missing if it is %j", (value) => {
    expect(check(value)).toBe("signature_missing");
  });

  it("is missing if only a prototype has it", () => {
    const headers = Object.create({ "service-signature": right });
    expect(codeOf(() => scheme.verify({ rawBody, headers }))).toBe("signature_missing");
    const odd = hmacSignature({ secret: randomBytes(32), header: "constructor" });
    expect(codeOf(() => odd.verify({ rawBody, headers: {} }))).toBe("signature_missing");
  });

  it.each([
    ["repeated", [right, right]],
    ["joined with a comma", `${right}, ${right}`],
    ["truncated", right.slice(0, -2)],
    ["cut in the middle of a byte", right.slice(0, -1)],
    ["followed by more", `${right}00`],
    ["not hexadecimal at its end", `${right.slice(0, -2)}zz`],
    ["not hexadecimal from the start", "z".repeat(64)],
    ["prefixed", `sha256=${right}`],
    ["spaced", ` ${right.slice(2)} `],
    ["full-width digits", "０".repeat(64)],
  ])("is malformed if it is %s", (_, value) => {
    expect(check(value)).toBe("signature_malformed");
  });

  it("is refused with a reason that tells a list from a wrong length and from other characters", () => {
    const reasonFor = (value: string) =>
      messageOf(() => scheme.verify({ rawBody, headers: { "service-signature": value } }));
    expect(reasonFor(`${right},${right}`)).toContain("a list");
    expect(reasonFor(right.slice(2))).toContain("62 characters");
    expect(reasonFor("z".repeat(64))).toContain("not hexadecimal");
  });

  it("is refused, or decodes to exactly the bytes that it names", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-fA-F]{0,80}$/));
    fc.assert(
      fc.property(text, (value) => {
        const read = () => readSignature({ s: value }, "S", { atMost: 70 });
        const admissible = /^(?:[0-9a-fA-F]{2}){1,35}$/.test(value);
        expect(codeOf(read)).toBe(
          admissible ? undefined : value === "" ? "signature_missing" : "signature_malformed",
        );
        expect(admissible ? read().toString("hex") : value.toLowerCase()).toBe(value.toLowerCase());
      }),
    );
  });

  it.each([
    [""],
    ["a b"],
    ["naïve"],
    ["x:"],
    ["line\nbreak"],
    ["x".repeat(129)],
    [7 as never],
    [["x-signature"] as never],
  ])("cannot be named %j", (header) => {
    expect(problemsOf(() => hmacSignature({ secret: randomBytes(32), header }))).toEqual([
      ["signature.header", "option_invalid"],
    ]);
    expect(
      problemCodes(() => publicKeySignature({ publicKey: undefined, algorithm: "ed25519", header })),
    ).toContain("option_invalid");
  });
});
