import { type CellOptions, readTime, readValue } from "../../../src/statement/csv/read-cells.js";

const usual: CellOptions = { decimalSeparator: ".", groupSeparator: "", timeFormat: "iso", utcOffset: "Z" };

describe("an amount of a statement", () => {
  it.each([
    ["1475", {}, "1475"],
    [" 1475.50 ", {}, "1475.50"],
    ["1475,50", { decimalSeparator: "," }, "1475.50"],
    ["1 475,50", { decimalSeparator: ",", groupSeparator: " " }, "1475.50"],
    ["1\u202f234\u00a0475", { groupSeparator: " " }, "1234475"],
    ["1,234,475.5", { groupSeparator: "," }, "1234475.5"],
    ["1.234.475,5", { decimalSeparator: ",", groupSeparator: "." }, "1234475.5"],
    ["1'475", { groupSeparator: "'" }, "1475"],
  ] satisfies [string, Partial<CellOptions>, string][])("%p is read with %p", (text, options, value) => {
    expect(readValue(text, { ...usual, ...options })).toBe(value);
  });

  it.each([
    ["1,475", {}],
    ["14,75", { groupSeparator: "," }],
    ["1,4755", { groupSeparator: "," }],
    ["1,475,50", { groupSeparator: "," }],
    ["1475.50 F", { decimalSeparator: "," }],
    ["1 475", {}],
    ["-5", { decimalSeparator: "," }],
    ["", { decimalSeparator: "," }],
  ] satisfies [string, Partial<CellOptions>][])("%p is returned unchanged with %p", (text, options) => {
    expect(readValue(text, { ...usual, ...options })).toBe(text);
  });

  it.each([
    ["10.000", { decimalSeparator: "," }],
    ["1475.50", { decimalSeparator: "," }],
    [" 1.000 ", { decimalSeparator: ",", groupSeparator: " " }],
    ["1.50", { decimalSeparator: ",", groupSeparator: "." }],
  ] satisfies [string, Partial<CellOptions>][])(
    "%p is not read with %p, because its point is no decimal point",
    (text, options) => {
      expect(readValue(text, { ...usual, ...options })).toBeUndefined();
    },
  );
});

describe("a time of a statement", () => {
  it.each([
    ["2024-05-01T10:00:00.123Z", {}, "2024-05-01T10:00:00.123Z"],
    ["2024-05-01 10:00", {}, "2024-05-01T10:00:00Z"],
    ["2024-05-01 10:00:05", { utcOffset: "+03:00" }, "2024-05-01T10:00:05+03:00"],
    ["2024-05-01 10:00:05 +0100", { utcOffset: "+03:00" }, "2024-05-01T12:00:05.000+03:00"],
    ["2024-05-01", {}, "2024-05-01T00:00:00Z"],
    ["1/5/2024 10:00", { timeFormat: "day-first" }, "2024-05-01T10:00:00Z"],
    ["05.01.2024", { timeFormat: "month-first" }, "2024-05-01T00:00:00Z"],
  ] satisfies [string, Partial<CellOptions>, string][])("%p is read with %p", (text, options, time) => {
    expect(readTime(text, { ...usual, ...options })).toBe(time);
  });

  it("is returned unchanged where it does not fit the options", () => {
    for (const text of ["01/05/2024", "yesterday", "1714557600", "2024-5-1"])
      expect(readTime(text, usual)).toBe(text);
  });
});
