import { isWholeNumber } from "../../src/shared/whole-number.js";

describe("isWholeNumber", () => {
  it.each([1, 2, 10])("accepts %p between 1 and 10", (value) => {
    expect(isWholeNumber(value, 1, 10)).toBe(true);
  });

  it.each([0, 11, 1.5, -1, Number.NaN, Infinity, "5", 5n, null, undefined, [5]])(
    "does not accept %p between 1 and 10",
    (value) => {
      expect(isWholeNumber(value, 1, 10)).toBe(false);
    },
  );

  it("has no upper limit without max", () => {
    expect(isWholeNumber(Number.MAX_VALUE, 0)).toBe(true);
    expect(isWholeNumber(Infinity, 0)).toBe(false);
  });
});
