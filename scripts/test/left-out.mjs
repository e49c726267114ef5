import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** What the tests cannot do on this machine, and why. */
export function machineLacks() {
  const lacks = [];
  if (!existsSync("scripts/demo.mjs")) lacks.push("the demo: scripts/demo.mjs is not there");
  return lacks;
}

/**
 * What a run of jest left out. Tests that cannot run on a machine say so in one of two ways: they are skipped, or a test
 * stands in for them: "leaves the … out, because …", or "is left out, since …".
 */
export function leftOutBy(file) {
  if (!existsSync(file)) return [];
  const { testResults } = JSON.parse(readFileSync(file, "utf8"));
  return testResults.flatMap(({ name, assertionResults }) => {
    const where = path.relative(process.cwd(), name);
    const said = assertionResults
      .filter(
        ({ title, status }) =>
          status === "passed" && /^(leaves .*\bout\b.*(because|is not there)|is left out)/.test(title),
      )
      .map(({ title }) => title.replace(/^leaves (out )?|^is left out, /, "").replace(" out,", ","));
    const skipped = assertionResults.filter(({ status }) => status === "pending" || status === "todo");
    const titles = [...new Set(skipped.map(({ ancestorTitles, title }) => ancestorTitles.at(-1) ?? title))];
    if (skipped.length > 0) said.push(`${skipped.length} skipped: ${titles.join("; ")}`);
    return said.map((what) => `${what} (${where})`);
  });
}
