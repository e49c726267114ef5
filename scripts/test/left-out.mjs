import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** Returns what the tests cannot do on this machine, with the reason. */
export function machineLacks() {
  const lacks = [];
  if (!existsSync("scripts/demo.mjs")) lacks.push("the demo: scripts/demo.mjs is not there");
  if (!existsSync("site/node_modules/vitepress"))
    lacks.push("the site of the documents: its packages are not installed (npm run docs)");
  return lacks;
}

/**
 * Returns what a run of jest left out: skipped tests, and tests whose title is "leaves the … out, because …" or
 * "is left out, since …", which replace tests that cannot run on this machine.
 */
export function leftOutBy(file) {
  if (!existsSync(file)) return [];
  const { testResults } = JSON.parse(readFileSync(file, "utf8"));
  return testResults.flatMap(({ name, assertionResults }) => {
    const where = path.relative(process.cwd(), name);
    const leftOut = assertionResults
      .filter(
        ({ title, status }) =>
          status === "passed" && /^(leaves .*\bout\b.*(because|is not there)|is left out)/.test(title),
      )
      .map(({ title }) => title.replace(/^leaves (out )?|^is left out, /, "").replace(" out,", ","));
    const skipped = assertionResults.filter(({ status }) => status === "pending" || status === "todo");
    const titles = [...new Set(skipped.map(({ ancestorTitles, title }) => ancestorTitles.at(-1) ?? title))];
    if (skipped.length > 0) leftOut.push(`${skipped.length} skipped: ${titles.join("; ")}`);
    return leftOut.map((what) => `${what} (${where})`);
  });
}
