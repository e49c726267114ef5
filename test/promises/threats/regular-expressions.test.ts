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
  // A sign of the syntax stands for itself where it is escaped.
  const escaped = [...source.matchAll(/\\([^\w\s])/g)].map(([, sign = ""]) => sign);
  const named = [...new Set([...escaped, ...source.replace(/\\.|[[\]()^$|?*\\]/g, "").split("")])].slice(
    0,
    12,
  );
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

/** Returns the shortest of five measurements: what else the machine does only makes a measurement longer. */
function shortestMs(regex: RegExp, text: string): number {
  return Math.min(...Array.from({ length: 5 }, () => msOf(regex, text)));
}

/** The minimum time of a quadratic expression with the longer text, in milliseconds. */
const minMs = 60;

/** Returns whether a hostile text of four times the length takes far more than four times as long. */
function isSuperlinear(regex: RegExp): boolean {
  const [short, long] = [[...hostileTexts(regex, 5_000)], [...hostileTexts(regex, 20_000)]];
  return long.some((text, index) => {
    // A quadratic expression takes some hundred milliseconds. What is faster is not measured again. A busy
    // machine makes also a linear one slow for a moment, so the shortest measurement decides.
    if (msOf(regex, text) < minMs) return false;
    const ms = shortestMs(regex, text);
    return ms >= minMs && ms > 8 * Math.max(shortestMs(regex, short[index]!), 0.5);
  });
}

it("Hostile text against any regular expression of the project: none takes more than linear time", () => {
  const expressions = readExpressions();
  expect(expressions.length).toBeGreaterThan(50);
  expect(expressions.filter(({ regex }) => isSuperlinear(regex)).map(({ where }) => where)).toEqual([]);
});

it("Hostile text against any regular expression of the project: a planted one is found", () => {
  expect(isSuperlinear(/0+$/)).toBe(true);
});
