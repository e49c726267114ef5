import { withoutUndefined } from "../../src/shared/without-undefined.js";

describe("withoutUndefined", () => {
  it("leaves out undefined values, and keeps null, false, zero and empty strings", () => {
    const given = { a: undefined, b: null, c: false, d: 0, e: "" };
    expect(Object.entries(withoutUndefined(given))).toEqual(Object.entries(given).slice(1));
  });
});
