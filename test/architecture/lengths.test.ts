import ts from "typescript";
import { readSources, type SourceFile } from "./read-imports.js";

const sources = readSources();

const maxFunctionLines = 80;

/** Returns the functions of a file that have more than `max` lines, with their place. */
function longFunctions({ file, text }: Pick<SourceFile, "file" | "text">, max: number): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const first = lineOf(node.getStart(source));
      const lines = lineOf(node.end) - first + 1;
      if (lines > max) found.push(`${file}:${first} has a function of ${lines} lines`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe("the sources", () => {
  it(`have no function of more than ${maxFunctionLines} lines`, () => {
    expect(sources.flatMap((source) => longFunctions(source, maxFunctionLines))).toEqual([]);
  });

  it('have no doc comment that begins with "The same", because it must name its subject', () => {
    const unnamed = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/\/\*\*\s+(?:\*\s+)?The same\b/g)].map(
        ({ index }) => `${file}:${text.slice(0, index).split("\n").length}`,
      ),
    );
    expect(unnamed).toEqual([]);
  });
});

describe("the counting of lines", () => {
  it("finds functions, arrow functions and methods, and counts from the first line to the last", () => {
    const text =
      "function a() {\n  return 1;\n}\nconst b = () => {\n  return 2;\n};\nclass C {\n  d() {\n    return 3;\n  }\n}\n";
    expect(longFunctions({ file: "x.ts", text }, 2)).toEqual([
      "x.ts:1 has a function of 3 lines",
      "x.ts:4 has a function of 3 lines",
      "x.ts:8 has a function of 3 lines",
    ]);
    expect(longFunctions({ file: "x.ts", text }, 3)).toEqual([]);
  });
});
