import { createHash } from "node:crypto";
import { isReturnTokenOf, makeReturnToken, readReturnToken } from "../../src/checkout/return-token.js";
import { pendingPayment } from "../support/webhooks.js";

const now = new Date("2026-11-20T10:00:00.000Z");

describe("a return token", () => {
  it("names its payment, and the store gets the SHA-256 of its random part", () => {
    const { token, hash } = makeReturnToken("c-1");
    const [clientId, key] = token.split("~");
    expect([clientId, key]).toEqual(["c-1", expect.stringMatching(/^[A-Za-z0-9_-]{22}$/)]);
    expect(hash).toBe(createHash("sha256").update(key!).digest("hex"));
    expect(readReturnToken(token)).toEqual({ clientId: "c-1", hash });
  });

  it("is read only as a whole", () => {
    const { token } = makeReturnToken("c-1");
    for (const around of [` ${token}`, `é${token}`, `${token}~`, `${token}A`, `${token}\n`, `c-0~${token}`])
      expect(readReturnToken(around)).toBeUndefined();
  });

  it("is of the payment whose hash it has, and of no payment without a hash", () => {
    const { hash } = makeReturnToken("c-1");
    expect(isReturnTokenOf(pendingPayment({ returnKeyHash: hash }), hash, now)).toBe(true);
    for (const returnKeyHash of [makeReturnToken("c-1").hash, "", hash.slice(1)])
      expect(isReturnTokenOf(pendingPayment({ returnKeyHash }), hash, now)).toBe(false);
    expect(isReturnTokenOf(pendingPayment(), hash, now)).toBe(false);
  });
});
