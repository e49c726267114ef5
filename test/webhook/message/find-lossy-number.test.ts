import { fc } from "../../support/property.js";
import { findLossyNumber } from "../../../src/webhook/message/decode-strict.js";

describe("findLossyNumber", () => {
  it.each([
    ["an integer beyond 2^53", "9007199254740993"],
    ["an integer whose shortest form is another", "9223372036854775808"],
    ["more digits than a double holds", "1.000000000000000005"],
    ["what becomes infinite", "1e400"],
    ["what becomes zero", "1e-999"],
    ["what becomes zero below zero", "-1e-999"],
  ])("finds %s", (_, literal) => {
    expect(findLossyNumber(`{"a":[${literal}]}`)).toBe(literal);
    expect(findLossyNumber(`[{"a":1,"b":"2"},${literal},3]`)).toBe(literal);
  });

  it.each([
    "0",
    "-0",
    "0e99999",
    "0.000e-5",
    "1.0",
    "1475.00",
    "1e6",
    "1E+2",
    "0.1",
    "0.10000000000000001",
    "9007199254740992",
    "100000000000000000000",
    "123.456e78",
    "1.7976931348623157e308",
    "5e-324",
    "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001",
  ])("does not find %s", (literal) => {
    expect(findLossyNumber(`[${literal}]`)).toBeUndefined();
  });

  it("checks only numbers, not digits in strings", () => {
    const text = JSON.stringify({ "1e400": "9007199254740993", 'a"1e-999': '\\" 1e400', b: "\n1e400" });
    expect(findLossyNumber(text)).toBeUndefined();
  });

  it("finds no double as programs print it", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        for (const literal of [JSON.stringify(value), value.toPrecision(17), value.toExponential()])
          expect(findLossyNumber(literal)).toBeUndefined();
      }),
    );
  });

  it("finds every integer that a double cannot hold", () => {
    fc.assert(
      fc.property(fc.bigInt(2n ** 53n, 2n ** 200n), (integer) => {
        fc.pre(BigInt(Number(integer)) !== integer);
        expect(findLossyNumber(`[${integer}]`)).toBe(String(integer));
      }),
    );
  });
});
