import { type Output } from "../../../src/cli/terminal/output.js";
import { printColumns } from "../../../src/cli/terminal/table.js";

function printed(
  width: number,
  ...more: Parameters<typeof printColumns> extends [unknown, ...infer Rest] ? Rest : never
) {
  const lines: string[] = [];
  const output = {
    width,
    print: (text = "") => void lines.push(text),
    paint: (_: unknown, text: string) => text,
  };
  printColumns(output as Output, ...more);
  return lines;
}

describe("a table", () => {
  it("cuts the widest column to the width of the terminal", () => {
    expect(printed(24, ["id", "why"], [["c-1", "a long reason of a person"]])).toEqual([
      "id   why",
      "c-1  a long reason of a…",
    ]);
  });

  it("prints each row on one line, with its note below it", () => {
    const rows = [
      ["c-1", "a\nb"],
      ["c-2", ""],
    ];
    expect(printed(60, ["id", "why"], rows, [], ["", "a\nnote"])).toEqual([
      "id   why",
      "c-1  a\\nb",
      "c-2",
      "  a\\nnote",
    ]);
  });

  it("never cuts a time or an id, even where the row gets wider than the terminal", () => {
    const row = ["2026-11-25 08:46", "c-0123456789-0123456789", "an order of a person"];
    expect(printed(30, ["created", "id", "order"], [row], ["created", "id"])).toContain(
      "2026-11-25 08:46  c-0123456789-0123456789  an orde…",
    );
  });
});
