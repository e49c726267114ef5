import { fc } from "../../support/property.js";
import { betrayedBy, everythingOf } from "./betrayal.js";

const secret = "whsec_a?b&c d/e+f=0123456789";
const found = (text: string) => betrayedBy(text, { it: secret });

describe("the search for secrets", () => {
  it("finds one in every form, at every position", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const whole = Buffer.from(`${before}${secret}${after}`);
        const printed = [
          whole.toString(),
          whole.toString("hex"),
          whole.toString("base64"),
          whole.toString("base64url"),
          `${before}${encodeURIComponent(secret)}${after}`,
          new URLSearchParams([
            [before, secret],
            ["a", after],
          ]).toString(),
          JSON.stringify({ before, secret }),
        ];
        for (const text of printed) expect([text, found(text).length > 0]).toEqual([text, true]);
      }),
    );
  });

  it("finds one in an error's message, stack, fields and causes", () => {
    for (const error of [
      new Error(secret),
      Object.assign(new Error("x"), { headers: { authorization: secret } }),
      new Error("x", { cause: new Error("y", { cause: { deep: [{ deeper: secret }] } }) }),
    ])
      expect(found(everythingOf(error))).not.toEqual([]);
  });

  it("finds none in text without a secret", () => {
    expect(found(everythingOf(new Error("whsec_ a b c d")))).toEqual([]);
  });
});
