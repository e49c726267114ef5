import { readFileSync } from "node:fs";
import { join } from "node:path";
import { activeCurrencies, currenciesAsOf, minorUnit } from "../../src/model/currencies.js";
import { checkAmount, fitsCurrency, minorUnits } from "../../src/model/money.js";
import { withCorpus } from "../webhook/message/corpora.js";

describe("the currency table", () => {
  it("has a date", () => {
    expect(currenciesAsOf).toMatch(/^\d{4}-(0[1-9]|1[0-2])$/);
  });

  it("has each code once, as three capital letters", () => {
    expect(new Set(activeCurrencies).size).toBe(activeCurrencies.length);
    expect(activeCurrencies.every((code) => /^[A-Z]{3}$/.test(code))).toBe(true);
  });

  it("follows ISO 4217 and not customary digits", () => {
    expect(minorUnit("KMF")).toBe(0);
    expect(minorUnit("MGA")).toBe(2);
    expect(minorUnit("IQD")).toBe(3);
    expect(minorUnit("CLF")).toBe(4);
  });

  it("has no limit for codes without a minor unit and for codes of the future", () => {
    expect(minorUnit("XAU")).toBeUndefined();
    expect(minorUnit("QQQ")).toBeUndefined();
    expect(minorUnit("toString")).toBeUndefined();
  });

  it.each(activeCurrencies.filter((code) => minorUnit(code) !== undefined))(
    "accepts %s at its minor unit, and refuses one decimal more",
    (code) => {
      const unit = minorUnit(code) ?? 0;
      const least = unit === 0 ? "1" : `0.${"1".padStart(unit, "0")}`;
      const beyond = `0.${"1".padStart(unit + 1, "0")}`;
      expect(checkAmount({ value: least, currency: code })).toBeUndefined();
      expect(minorUnits(least, code)).toBe(1n);
      expect(fitsCurrency(beyond, code)).toBe(false);
      expect(checkAmount({ value: beyond, currency: code })?.code).toBe("amount_invalid");
    },
  );

  describe("compared with the public list", () => {
    withCorpus("iso4217", (folder) => {
      // Names may contain commas; the last four columns do not.
      const rows = readFileSync(join(folder, "codes-all.csv"), "utf8")
        .split(/\r?\n/)
        .slice(1)
        .filter((line) => line !== "")
        .map((line) => line.split(",").slice(-4));
      const active = rows.filter(([code, , , withdrawn]) => code !== "" && withdrawn === "");

      it("has every active code, with its minor unit, and no other", () => {
        const listed = new Map(
          active.map(([code, , unit]) => [code, unit === "-" ? undefined : Number(unit)]),
        );
        expect(new Map(activeCurrencies.map((code) => [code, minorUnit(code)]))).toEqual(listed);
        expect(listed.size).toBeGreaterThan(150);
      });

      it("has the date of the newest change in the list", () => {
        const changes = rows
          .map(([, , , withdrawn]) => withdrawn ?? "")
          .filter((date) => /^\d{4}-\d\d$/.test(date));
        expect(changes.toSorted().at(-1)).toBe(currenciesAsOf);
      });
    });
  });
});
