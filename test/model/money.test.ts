import { fc } from "../support/property.js";
import { activeCurrencies, minorUnit } from "../../src/model/currencies.js";
import {
  canonicalValue,
  checkAmount,
  fitsCurrency,
  isAmount,
  isPositive,
  minorUnits,
  parseAmount,
  restText,
  sameValue,
} from "../../src/model/money.js";
import { codeOf } from "../webhook/signature/refusal.js";

/** Amounts in ten-thousandths, each with one way to write it. */
const written = fc
  .tuple(fc.bigInt({ min: 0n, max: 9_999_999_999_999_999n }), fc.stringMatching(/^[0-9]{0,4}$/))
  .map(([whole, decimals]) => ({
    text: decimals === "" ? `${whole}` : `${whole}.${decimals}`,
    tenThousandths: whole * 10_000n + BigInt(decimals.padEnd(4, "0")),
  }));

const notAmounts = [
  "",
  " ",
  "1 ",
  " 1",
  "-1",
  "+1",
  "01",
  "00",
  "1.",
  ".5",
  "1.23456",
  "12345678901234567",
  "1,5",
  "1e3",
  "1E3",
  "0x10",
  "NaN",
  "Infinity",
  "١",
  "１",
  "1_000",
  "1'000",
  "1\n",
  "1.5.5",
  "null",
];

describe("amounts", () => {
  it.each(["0", "1475", "1475.00", "10.5", "0.0001", "9999999999999999.9999"])("reads %s", (value) => {
    expect(isAmount(value)).toBe(true);
  });

  it.each(notAmounts)("does not read %j", (value) => {
    expect(parseAmount(value)).toEqual({ ok: false });
    expect(isPositive(value)).toBe(false);
    expect(sameValue(value, value)).toBe(false);
    expect(codeOf(() => canonicalValue(value))).toBe("amount_invalid");
    expect(codeOf(() => minorUnits(value, "EUR"))).toBe("amount_invalid");
  });

  it.each([1475, 1475n, null, undefined, ["1475"], { value: "1475" }, true])("does not read %p", (value) => {
    expect(isAmount(value)).toBe(false);
    expect(parseAmount(value)).toEqual({ ok: false });
  });

  it("are never equal to a text that is no amount", () => {
    for (const [a, b] of [
      ["1", "x"],
      ["x", "1"],
      ["x", "y"],
      ["", "0"],
    ] as const)
      expect(sameValue(a, b)).toBe(false);
  });

  it("returns 1475 for 1475.00", () => {
    expect(canonicalValue("1475.00")).toBe("1475");
    expect(canonicalValue("10.50")).toBe("10.5");
    expect(canonicalValue("0.0000")).toBe("0");
    expect(canonicalValue("100")).toBe("100");
  });

  it("finds two values equal exactly if they are the same number", () => {
    fc.assert(
      fc.property(written, written, (a, b) => {
        expect(sameValue(a.text, b.text)).toBe(a.tenThousandths === b.tenThousandths);
        expect(sameValue(a.text, a.text)).toBe(true);
      }),
    );
    const few = fc.constantFrom("1", "1.0", "1.00", "10", "10.0", "1.1", "1.10", "1.01", "0", "0.0", "0.1");
    fc.assert(fc.property(few, few, (a, b) => sameValue(a, b) === (Number(a) === Number(b))));
  });

  it.each([
    ["9007199254740992", "9007199254740993"],
    ["9999999999999998", "9999999999999999"],
    ["900719925474099.3", "900719925474099.31"],
    ["9999999999999999.0001", "9999999999999999.0002"],
  ])("tells %s from %s, which are one number as floats", (a, b) => {
    expect(sameValue(a, b)).toBe(false);
    expect(minorUnits(a, "UYW")).not.toBe(minorUnits(b, "UYW"));
  });

  it("has one canonical form for each value", () => {
    fc.assert(
      fc.property(written, ({ text, tenThousandths }) => {
        const canonical = canonicalValue(text);
        expect(canonicalValue(canonical)).toBe(canonical);
        expect(minorUnits(canonical, "UYW")).toBe(tenThousandths);
        expect(canonical).not.toMatch(/\.$|\.\d*0$/);
      }),
    );
  });

  it("is above zero unless every digit is zero", () => {
    fc.assert(fc.property(written, ({ text, tenThousandths }) => isPositive(text) === tenThousandths > 0n));
    expect(isPositive("0.00")).toBe(false);
  });

  it("counts minor units exactly, also beyond the precision of a float", () => {
    expect(minorUnits("10.50", "EUR")).toBe(1050n);
    expect(minorUnits("1475.00", "KMF")).toBe(1475n);
    expect(minorUnits("0.001", "BHD")).toBe(1n);
    expect(minorUnits("9999999999999999.99", "EUR")).toBe(999_999_999_999_999_999n);
    expect(minorUnits("1", "QQQ")).toBe(10_000n);
  });

  it("has minor units exactly if it fits the currency", () => {
    const currency = fc.constantFrom(...activeCurrencies, "QQQ");
    fc.assert(
      fc.property(written, currency, ({ text, tenThousandths }, code) => {
        const unit = minorUnit(code) ?? 4;
        const step = 10n ** BigInt(4 - unit);
        const fits = tenThousandths % step === 0n;
        expect(fitsCurrency(text, code)).toBe(fits);
        const units = fits ? minorUnits(text, code) : codeOf(() => minorUnits(text, code));
        expect(units).toBe(fits ? tenThousandths / step : "amount_invalid");
      }),
    );
  });
});

it("the rest of a refund says what is left, or that nothing is", () => {
  expect(restText({ value: "975", currency: "KMF" })).toBe("975 KMF left");
  expect(restText({ value: "0.00", currency: "EUR" })).toBe("all of it has gone back");
});

describe("an amount to collect", () => {
  it.each([
    { value: "1475", currency: "KMF" },
    { value: "1475.00", currency: "KMF" },
    { value: "0.01", currency: "EUR" },
    { value: "1.2345", currency: "QQQ" },
    { value: "1.2345", currency: "XAU" },
  ])("is accepted: $value $currency", (total) => {
    expect(checkAmount(total)).toBeUndefined();
  });

  it.each([
    [1475, 'write "1475"'],
    [10.5, "string"],
    ["10,00", "comma"],
    ["1,475", "comma"],
    [1475n, "numbers lose decimals"],
    ["1e3", "exponent"],
    ["1E10", "exponent"],
    ["12.25e+10", "exponent"],
    ["x1e3", "without spaces or symbols"],
    ["1e3x", "without spaces or symbols"],
    ["1e", "without spaces or symbols"],
    ["1-5", "without spaces or symbols"],
    ["x12345678901234567", "without spaces or symbols"],
    ["12.34567", "more than 4 decimals"],
    ["x1.23456", "without spaces or symbols"],
    ["1.5.5", "without spaces or symbols"],
    [{}, 'such as "1475" or "10.50".'],
    ["007", "zero"],
    ["-5", "sign"],
    ["+5", "sign"],
    ["0", "above zero"],
    ["0.00", "above zero"],
    ["1475.5", "KMF has no decimals"],
    ["1.23456", "more than 4 decimals"],
    ["12345678901234567", "16 digits"],
    ["1475 KMF", "decimal string"],
    ["", 'such as "1475" or "10.50".'],
    [undefined, "decimal string"],
    [null, "decimal string"],
  ])("is refused if the value is %j, with a message that contains: %s", (value, hint) => {
    const problem = checkAmount({ value, currency: "KMF" });
    expect(problem?.code).toBe("amount_invalid");
    expect(problem?.message).toContain(hint);
  });

  it.each([
    ["kmf", 'capital letters: "KMF"'],
    ["Kmf", 'capital letters: "KMF"'],
    ["KM", "ISO 4217"],
    ["KMFF", "ISO 4217"],
    ["174", "ISO 4217"],
    [undefined, "ISO 4217"],
    ["K\u0000F", "ISO 4217"],
    [["KMF"], "ISO 4217"],
    [["kmf"], "ISO 4217"],
  ])("is refused if the currency is %j", (currency, hint) => {
    const problem = checkAmount({ value: "1475", currency });
    expect(problem?.code).toBe("currency_invalid");
    expect(problem?.message).toContain(hint);
  });

  it("is refused with the number of decimals that its currency has", () => {
    expect(checkAmount({ value: "10.505", currency: "EUR" })?.message).toContain(
      "EUR has at most 2 decimals",
    );
    expect(checkAmount({ value: "10.5055", currency: "BHD" })?.message).toContain(
      "BHD has at most 3 decimals",
    );
  });

  it.each([undefined, null, "1475", 7, []])("is refused if the total is %p", (total) => {
    expect(checkAmount(total)?.code).toBe("amount_invalid");
  });

  it("is accepted exactly if it is an amount above zero that fits its currency", () => {
    const currency = fc.constantFrom(...activeCurrencies, "QQQ");
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom(...notAmounts),
      written.map(({ text }) => text),
    );
    fc.assert(
      fc.property(value, currency, (value, currency) => {
        const accepted = checkAmount({ value, currency }) === undefined;
        expect(accepted).toBe(isPositive(value) && fitsCurrency(value, currency));
      }),
    );
  });
});
