import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { replacedWords, type ReplacedWord } from "./words.js";

const root = path.resolve(__dirname, "../..");

/** Folders with files that are installed, built or written by a program. */
const skipped = new Set([".git", ".tmp", "coverage", "dist", "node_modules", "bench/results"]);

/** Files that quote replaced words. */
const excepted = ["test/architecture/", "CHANGELOG.md"];

/** Returns every source, test and document of the repository, as paths from its root folder. */
function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(file) || skipped.has(entry.name) ? [] : filesIn(file);
    return /\.(ts|mjs|cjs|md)$/.test(file) ? [file] : [];
  });
}

const files = filesIn("").filter((file) => !excepted.some((prefix) => file.startsWith(prefix)));

/** Returns one line for each replaced word in a file: where it is, the word, and what to write instead. */
function findings(file: string): string[] {
  const words = replacedWords.filter((word) => appliesTo(word, file));
  return readFileSync(path.join(root, file), "utf8")
    .split("\n")
    .flatMap((line, index) =>
      words.flatMap(({ pattern, use }) => {
        const found = pattern.exec(line)?.[0];
        return found === undefined ? [] : [`${file}:${index + 1}: "${found.trim()}", write: ${use}`];
      }),
    );
}

function appliesTo({ under, except }: ReplacedWord, file: string): boolean {
  if (under !== undefined && !file.startsWith(under)) return false;
  return !except?.some((prefix) => file.startsWith(prefix));
}

describe("the terms of the project", () => {
  it("are used in every source, test and document, and replaced words in none", () => {
    expect(files.length).toBeGreaterThan(500);
    const found = files.flatMap(findings);
    // One line for each, which jest's difference of two lists does not show when it is long.
    if (found.length > 0) throw new Error(`${found.length} replaced words:\n${found.join("\n")}`);
  });

  it("are found by patterns without the flags g and y, which remember their last match", () => {
    expect(replacedWords.filter(({ pattern }) => pattern.global || pattern.sticky)).toEqual([]);
  });
});
