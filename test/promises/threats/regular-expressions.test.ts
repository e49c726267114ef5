import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.resolve(__dirname, "../../../src");

interface Expression {
  where: string;
  regex: RegExp;
}

/** Returns every regular expression literal of `src`, without repetitions. */
function readExpressions(): Expression[] {
  const found = new Map<string, Expression>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(path.join(root, file), "utf8");
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const [, pattern = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(node.text)!;
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
        if (!found.has(node.text))
          found.set(node.text, { where: `${file}:${line} ${node.text}`, regex: new RegExp(pattern, flags) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return [...found.values()];
}

const everyday = ["a", "A", "0", " ", "\n", "/", "-", "_", ".", "é", "\u{1F4B0}"];

/** Yields strings with this many repetitions of characters of the expression, alone and in pairs, and an end that it rejects. */
function* hostileTexts({ source }: RegExp, repetitions: number): Generator<string> {
  const named = [...new Set(source.replace(/\\[a-zA-Z]|[[\]()^$|?*\\]/g, ""))].slice(0, 12);
  const atoms = [...new Set([...named, ...everyday])];
  const pairs = named.flatMap((one) => ["a", "0", " ", named[0]!].map((other) => one + other));
  for (const atom of [...atoms, ...pairs]) {
    for (const end of ["\u0001", "x!"]) yield atom.repeat(repetitions) + end;
    yield `x${atom.repeat(repetitions)}\n\u0001`;
  }
}

function msOf(regex: RegExp, text: string): number {
  const from = performance.now();
  text.replace(regex, "");
  return performance.now() - from;
}

/** Returns whether four times the text takes far more than four times as long, in each of three measurements. */
function isSuperlinear(regex: RegExp, text: (repetitions: number) => string): boolean {
  const growth = () => msOf(regex, text(20_000)) / Math.max(msOf(regex, text(5_000)), 0.1);
  return [growth, growth, growth].every((measure) => measure() > 8);
}

const expressions = readExpressions();

it("Hostile text against any regular expression of the project: none takes more than linear time", () => {
  expect(expressions.length).toBeGreaterThan(50);
  const slow = expressions.filter(({ regex }) => {
    for (const [index, text] of [...hostileTexts(regex, 20_000)].entries()) {
      // Within 20 ms an expression is not superlinear: a quadratic one takes several hundred.
      if (msOf(regex, text) < 20) continue;
      if (isSuperlinear(regex, (repetitions) => [...hostileTexts(regex, repetitions)][index]!)) return true;
    }
    return false;
  });
  expect(slow.map(({ where }) => where)).toEqual([]);
});

it("Hostile text against any regular expression of the project: a planted one is found", () => {
  const planted = /0+$/;
  const allTexts = (repetitions: number) => [...hostileTexts(planted, repetitions)];
  const index = allTexts(20_000).findIndex((text) => msOf(planted, text) >= 20);
  expect(index).toBeGreaterThanOrEqual(0);
  expect(isSuperlinear(planted, (repetitions) => allTexts(repetitions)[index]!)).toBe(true);
});
