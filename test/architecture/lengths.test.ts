import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { readSources, type SourceFile } from "./read-imports.js";

const sources = readSources();

const maxFunctionLines = 80;
const maxCommentWidth = 110;
const root = path.join(__dirname, "../..");

/** Returns the comment lines that are too wide. A directive of the linter must be one line. */
function wideComments({ file, text }: Pick<SourceFile, "file" | "text">): string[] {
  return text.split("\n").flatMap((line, index) => {
    const isComment = /^\s*(\/\/|\/?\*)/.test(line) && !line.includes("oxlint-disable");
    return isComment && line.length > maxCommentWidth
      ? [`${file}:${index + 1} has ${line.length} characters`]
      : [];
  });
}

/** Returns the headings that comments name and the document does not have: `"Timers" in bench/README.md`. */
function unknownHeadings({ file, text }: Pick<SourceFile, "file" | "text">): string[] {
  const flowing = text.replaceAll(/\n\s*(\*|\/\/) ?/g, " ");
  return [...flowing.matchAll(/"([^"\n]+)" in ([\w./-]+\.md)/g)].flatMap(([named, heading, document]) => {
    const place = path.join(root, document!);
    const headings = existsSync(place) ? readFileSync(place, "utf8").match(/^#+ .*$/gm) : undefined;
    const isThere = headings?.some((line) => line.replace(/^#+ /, "") === heading);
    return isThere ? [] : [`${file}: ${named}`];
  });
}

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

  it(`have no comment that is wider than ${maxCommentWidth} characters`, () => {
    expect(sources.flatMap(wideComments)).toEqual([]);
  });

  it("name only headings that their document has", () => {
    expect(sources.flatMap(unknownHeadings)).toEqual([]);
    const text = '/** See "Timers" in\n * bench/README.md, and "Clocks" in bench/README.md. */';
    expect(unknownHeadings({ file: "x.ts", text })).toEqual(['x.ts: "Clocks" in bench/README.md']);
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
