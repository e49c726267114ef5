import { formatAmount, formatMoney } from "../../src/pages/format.js";

describe("money", () => {
  it.each([
    ["1475", "KMF", "en", "1,475\u00a0KMF"],
    ["1475.00", "KMF", "fr", "1\u202f475,00\u00a0KMF"],
    ["10.5", "EUR", "en", "10.5\u00a0EUR"],
    ["9007199254740993.0001", "XYZ", "en", "9,007,199,254,740,993.0001\u00a0XYZ"],
  ] as const)("of %s %s has in %s exactly its own decimals", (value, currency, language, shown) => {
    expect(formatMoney({ value, currency }, language)).toBe(shown);
  });

  it.each([
    ["1475.00", "KMF", "1,475"],
    ["1475.5", "KMF", "1,475.5"],
    ["10", "EUR", "10.00"],
    ["10.5", "EUR", "10.50"],
    ["10.1234", "EUR", "10.1234"],
  ])("of %s %s has on a checkout page the customary decimals", (value, currency, shown) => {
    expect(formatAmount({ value, currency }, "en")).toBe(shown);
  });
});
