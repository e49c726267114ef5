import { loadCommand } from "../../../src/cli/commands.js";
import { formatOptions, readFormat } from "../../../src/cli/statement/format-options.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";

const formatOf = async (...argv: string[]) =>
  readFormat(readArguments(await loadCommand("statement"), ["may.csv", ...argv]));

const given: [argv: string[], sets: object][] = [
  [["--column", "clientId=Ref"], { columns: { clientId: "Ref" } }],
  [["--column", "value=3"], { columns: { value: 3 } }],
  [["--column", "source="], { columns: { source: false } }],
  [["--fixed", "currency=KMF", "--fixed", "status=paid"], { fixed: { currency: "KMF", status: "paid" } }],
  [["--delimiter", ";"], { delimiter: ";" }],
  [["--delimiter", "tab"], { delimiter: "\t" }],
  [["--no-header"], { header: false }],
  [["--skip-lines", "2"], { skipLines: 2 }],
  [["--comment", "//"], { comment: "//" }],
  [["--comment="], { comment: "" }],
  [["--encoding", "windows-1252"], { encoding: "windows-1252" }],
  [["--decimal", ","], { decimalSeparator: "," }],
  [["--group", "."], { groupSeparator: "." }],
  [["--group", "space"], { groupSeparator: " " }],
  [["--time-format", "day-first"], { timeFormat: "day-first" }],
  [["--utc-offset=+03:00"], { utcOffset: "+03:00" }],
];

describe("the options of a statement's format", () => {
  it.each(given)("%j", async (argv, sets) => {
    expect(await formatOf(...argv)).toMatchObject(sets);
    expect(await formatOf()).not.toMatchObject(sets);
  });

  it.each([
    [["--fixed", "source=MVK"], { fixed: { source: "MVK" } }],
    [["--encoding", "utf-8"], { encoding: "utf-8" }],
    [["--decimal", "."], { decimalSeparator: "." }],
    [["--group", ","], { groupSeparator: "," }],
    [["--group", "'"], { groupSeparator: "'" }],
    [["--time-format", "iso"], { timeFormat: "iso" }],
    [["--time-format", "month-first"], { timeFormat: "month-first" }],
  ])("have the further choice %j", async (argv, sets) => {
    expect(await formatOf(...argv)).toMatchObject(sets);
  });

  it("set only the defaults if no option is given", async () => {
    const format = Object.entries(await formatOf()).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(format)).toEqual({
      columns: {},
      fixed: {},
      header: true,
      decimalSeparator: ".",
      groupSeparator: "",
      timeFormat: "iso",
    });
  });

  it("are all listed above", () => {
    const names = Object.keys(formatOptions).map((written) => written.split(" ")[0]!);
    const isTested = (name: string) => given.some(([[first]]) => first!.split("=")[0] === name);
    expect(names.filter((name) => !isTested(name))).toEqual([]);
  });
});
