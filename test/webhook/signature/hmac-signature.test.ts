import { createHmac, randomBytes } from "node:crypto";
import { fc } from "../../support/property.js";
import { hmacSignature } from "../../../src/webhook/signature/index.js";
import { bytes, webhook } from "../message/webhooks.js";
import { messageOf, problemsOf } from "./refusal.js";

const rawBody = bytes(webhook());
const signed = (signature: string) => ({ rawBody, headers: { "service-signature": signature } });

function flip(buffer: Buffer, bit: number): Buffer {
  const copy = Buffer.from(buffer);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

describe("hmacSignature", () => {
  it("covers the whole body and reads Service-Signature", () => {
    const scheme = hmacSignature({ secret: randomBytes(32) });
    expect(scheme.covers).toBe("body");
    expect(scheme.header).toBe("Service-Signature");
  });

  it("agrees with the fourth test case of RFC 4231", () => {
    const key = Buffer.from(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(hmacSignature({ secret: key }).sign(Buffer.alloc(50, 0xcd))).toBe(
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    );
  });

  it.each(["sha256", "sha384", "sha512"] as const)("signs and verifies the raw body with %s", (algorithm) => {
    const secret = "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe";
    const scheme = hmacSignature({ secret, algorithm });
    const expected = createHmac(algorithm, secret).update(rawBody).digest("hex");
    expect(scheme.sign(rawBody)).toBe(expected);
    expect(scheme.verify(signed(expected))).toBe(true);
  });

  it("does not verify another body, not even one with the same JSON content", () => {
    const scheme = hmacSignature({ secret: randomBytes(32) });
    const signature = scheme.sign(rawBody);
    const spaced = bytes(JSON.stringify(webhook(), undefined, 1));
    expect(scheme.verify({ rawBody: spaced, headers: { "service-signature": signature } })).toBe(false);
  });

  it("does not verify if one bit of the signature or of the body is wrong", () => {
    const scheme = hmacSignature({ secret: randomBytes(32) });
    const right = Buffer.from(scheme.sign(rawBody), "hex");
    fc.assert(
      fc.property(fc.nat(right.length * 8 - 1), (bit) => {
        expect(scheme.verify(signed(flip(right, bit).toString("hex")))).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.nat(rawBody.length * 8 - 1), (bit) => {
        const headers = { "service-signature": right.toString("hex") };
        expect(scheme.verify({ rawBody: flip(rawBody, bit), headers })).toBe(false);
      }),
    );
  });

  it("verifies with every secret of a rotation, and signs with the first", () => {
    const secrets = [randomBytes(32), "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe", randomBytes(48)];
    const scheme = hmacSignature({ secret: secrets });
    const signatures = secrets.map((secret) => createHmac("sha256", secret).update(rawBody).digest("hex"));
    expect(scheme.sign(rawBody)).toBe(signatures[0]);
    for (const signature of signatures) expect(scheme.verify(signed(signature))).toBe(true);
    const foreign = createHmac("sha256", randomBytes(32)).update(rawBody).digest("hex");
    expect(scheme.verify(signed(foreign))).toBe(false);
  });

  it("cannot be changed after its creation", () => {
    const scheme = hmacSignature({ secret: randomBytes(32) });
    expect(() => Object.assign(scheme, { verify: () => true })).toThrow(TypeError);
  });

  it.each([["sha1"], ["toString"], [["sha256"]], [null]])(
    "refuses the algorithm %j, and lists those that it knows",
    (algorithm) => {
      const construct = () => hmacSignature({ secret: randomBytes(32), algorithm: algorithm as never });
      expect(problemsOf(construct)).toEqual([["signature.algorithm", "option_invalid"]]);
      expect(messageOf(construct)).toContain("sha256, sha384, sha512");
    },
  );

  it("refuses an option that it does not know", () => {
    // @ts-expect-error the option is called secret
    expect(problemsOf(() => hmacSignature({ secret: randomBytes(32), secrets: [] }))).toEqual([
      ["signature.secrets", "option_invalid"],
    ]);
  });
});
