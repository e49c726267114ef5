import { createHash } from "node:crypto";
import { keyOf } from "../../../../src/store/over/records/keys.js";

describe("a key of a record", () => {
  it("belongs to one value, also to one that looks like the digest of a long one", () => {
    const long = "é".repeat(100);
    const digest = createHash("sha256").update(long, "utf16le").digest("hex");
    expect(keyOf("orders", long)).toBe(`orders/~${digest}`);
    expect(keyOf("orders", `~${digest}`)).toBe(`orders/%7E${digest}`);
    expect(keyOf("orders", "a~b:c/d")).toBe("orders/a%7Eb:c%2Fd");
  });
});
