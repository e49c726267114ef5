import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const types = /^(import|export) type [^;]*;/gm;
const imported = /(?:from|import\(|require\()\s*"(\.[^"]+)"/g;

/** Returns the test files that import the package by no name, neither directly nor through another file of the tests. */
export function testsOfSourcesOnly() {
  const known = new Map();
  return readdirSync("test", { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => path.join("test", file))
    .filter((file) => !importsPackage(file, known));
}

function importsPackage(file, known) {
  if (!known.has(file)) {
    // A circle of imports ends here.
    known.set(file, false);
    const text = readFileSync(file, "utf8").replaceAll(types, "");
    const files = [...text.matchAll(imported)]
      .map(([, name]) => path.join(path.dirname(file), name.replace(/\.js$/, ".ts")))
      .filter((found) => found.startsWith(`test${path.sep}`) && existsSync(found));
    known.set(file, /"tillkit[/"]/.test(text) || files.some((found) => importsPackage(found, known)));
  }
  return known.get(file);
}
