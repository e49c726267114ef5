import { differenceKinds, rowProblemCodes, statementFields } from "tillkit/statement";
import { membersOf, read } from "./documents.js";

const page = read("docs/statement.md");

describe("the page on statements", () => {
  it("has a row for every kind of finding, and every reason for which a row is bad", () => {
    const rows = [...page.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
    );
    const wanted = [...differenceKinds, "bad_row", "at_edge", "accepted_here", ...rowProblemCodes];
    expect(wanted.filter((name) => !rows.includes(name))).toEqual([]);
  });

  it("has a row for every option, but for the one that is for tests", () => {
    const options = [
      ...membersOf("src/operations/statement-options.ts", "StatementOptions").filter(
        (name) => name !== "sort",
      ),
      ...membersOf("src/statement/read-statement.ts", "StatementFormat"),
      ...membersOf("src/statement/csv/read-cells.ts", "CellOptions"),
    ];
    expect(options.length).toBeGreaterThan(15);
    expect(options.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it("names every field of a row", () => {
    expect(statementFields.filter((name) => !page.includes(name))).toEqual([]);
  });
});
