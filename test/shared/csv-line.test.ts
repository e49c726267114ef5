import { csvLine } from "../../src/shared/csv-line.js";

describe("a line of CSV", () => {
  it("ends with CRLF, and has an empty cell for undefined", () => {
    expect(csvLine(["a", undefined, 7])).toBe("a,,7\r\n");
  });

  it.each([
    ["a comma", "a,b", '"a,b"'],
    ["a quote", 'a"b"', '"a""b"""'],
    ["a line break", "a\nb", '"a\nb"'],
    ["a carriage return", "a\rb", '"a\rb"'],
  ])("has quotes around a cell with %s", (_, cell, expected) => {
    expect(csvLine([cell])).toBe(`${expected}\r\n`);
  });

  it.each([
    ["=1+1", "'=1+1"],
    ["+269 321", "'+269 321"],
    ["-cmd", "'-cmd"],
    ["@SUM(A1)", "'@SUM(A1)"],
    [" =1", " '=1"],
    ["a;=1", "a;'=1"],
    ["\uff1d1", "'\uff1d1"],
  ])("has an apostrophe before the formula in %j", (cell, expected) => {
    expect(csvLine([cell])).toBe(`${expected}\r\n`);
  });

  it.each(["-1475", "-10.50", "order-1", "a=b", "c_+d", "shop@example"])("keeps %j unchanged", (cell) => {
    expect(csvLine([cell])).toBe(`${cell}\r\n`);
  });
});
