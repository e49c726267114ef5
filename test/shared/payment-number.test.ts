import { isSameNumber, keyOfNumber, waysToWrite } from "../../src/shared/payment-number.js";

describe("a payment number", () => {
  it.each([
    ["MVL-64b7f0", "mvl 64B7F0", true],
    ["MVL-64b7f0", "MVL64B7F0", true],
    ["MVL-64b7f0", "MVL-64b7f1", false],
    ["MVL-64b7f0", undefined, false],
    ["a-b", "a-b", false],
  ])("%j and %j are the same: %s", (one, other, expected) => {
    expect(isSameNumber(one, other)).toBe(expected);
  });

  it.each([
    ["abc", undefined],
    ["ab-c1", "ABC1"],
    ["a".repeat(128), "A".repeat(128)],
    ["a".repeat(129), undefined],
  ])("%.8s has its letters and digits as the key, if they are 4 to 128", (number, key) => {
    expect(keyOfNumber(number)).toBe(key);
  });

  it("is looked for unchanged, in capitals, in small letters, and with a sign after its letters", () => {
    const ways = waysToWrite("Mvl64b7");
    expect(ways).toEqual(expect.arrayContaining(["Mvl64b7", "MVL64B7", "mvl64b7", "MVL-64B7", "mvl.64b7"]));
    expect(new Set(ways).size).toBe(ways.length);
  });

  it("is looked for with a sign after three letters, too, because more letters may be hexadecimal", () => {
    expect(waysToWrite("mvlab12")).toEqual(expect.arrayContaining(["mvl-ab12", "mvlab-12"]));
  });

  it("is looked for only unchanged if it has no key", () => {
    expect(waysToWrite("a-1")).toEqual(["a-1"]);
  });
});
