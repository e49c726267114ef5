import { nearest } from "../../src/shared/nearest.js";

const known = ["sign", "verify", "migrate", "doctor", "sandbox"];

describe("the nearest word", () => {
  it.each([
    ["sing", "sign"],
    ["Verify", "verify"],
    ["migrat", "migrate"],
    ["docter", "doctor"],
    ["sand", "sandbox"],
  ])("to %s is %s", (word, meant) => {
    expect(nearest(word, known)).toBe(meant);
  });

  it.each(["", "x", "launch", "constructor"])("to %j is none", (word) => {
    expect(nearest(word, known)).toBeUndefined();
  });
});
