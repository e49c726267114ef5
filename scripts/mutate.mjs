// Changes the sources in small ways, one at a time, and counts which changes the tests of the mirrored folder notice.
// `npm run mutate -- --help`
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { report } from "./mutate/report.mjs";

const root = path.resolve(import.meta.dirname, "..");
const results = path.join(root, "test/mutation/results.json");

/** The folders of src/ that are mutated, in parts that take at most ten minutes each on one busy core. */
const parts = [
  "model",
  "webhook/reconciliation",
  "webhook/message",
  "webhook/recording",
  "webhook/signature",
  "webhook/spool",
  "dispatch",
  "checkout",
  "operations",
  "store/memory",
];

const usage = `npm run mutate -- [folder …] [options]
  folder        a folder or a file of src/ (default: ${parts.join(", ")})
  --report      only writes the report from the stored results
  --smoke       only shows that it starts: changes one small file, and writes nothing
Runs StrykerJS with the tests of the mirrored folder only, one test process at a time. What it found earlier is kept in .tmp, so
that only changed code and tests are run again. Writes test/mutation/results.json and test/mutation/README.md. Exits with 0 when
every part was measured; 3 when Stryker could not run.`;

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      report: { type: "boolean" },
      smoke: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return console.log(usage);
  if (values.smoke) {
    const { mutants, killed } = mutate("model/status-order.ts");
    return console.log(`${killed} of ${mutants} changes of one file were noticed.`);
  }
  if (!values.report)
    for (const part of positionals.length > 0 ? positionals : parts) {
      const measured = mutate(part.replace(/^src\//, ""));
      // Read late, because another part may have been measured at the same time.
      writeFileSync(results, `${JSON.stringify({ ...readResults(), [part]: measured }, undefined, 2)}\n`);
    }
  writeFileSync(path.join(root, "test/mutation/README.md"), report(readResults(), root));
}

function readResults() {
  return existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : {};
}

/** Runs Stryker on one part. Returns the number of mutants, the number of killed ones, and the survivors. */
function mutate(part) {
  const isFile = part.endsWith(".ts");
  const name = part.replaceAll("/", "-");
  const folder = path.join(root, ".tmp/mutation");
  mkdirSync(folder, { recursive: true });
  const output = path.join(folder, `${name}.json`);
  const configuration = path.join(folder, `${name}.config.json`);
  const incrementalFile = path.join(folder, `${name}.incremental.json`);
  if (existsSync(incrementalFile)) forgetStaticSurvivors(incrementalFile);
  const mutated = isFile ? part : `${part}/**/*.ts`;
  const tests = isFile ? part.replace(/\.ts$/, ".test.ts") : `${part}/**/*.test.ts`;
  writeFileSync(
    configuration,
    JSON.stringify({
      testRunner: "mocha",
      coverageAnalysis: "perTest",
      concurrency: 1,
      mutate: [`src/${mutated}`],
      plugins: ["@stryker-mutator/mocha-runner", path.join(root, "scripts/mutate/ignore-messages.mjs")],
      ignorers: ["messages"],
      mochaOptions: {
        require: ["./scripts/mutate/jest-interface.cjs"],
        extension: ["ts"],
        spec: [`test/${tests}`],
        // They start processes with their own compilation of the sources, which refuses mutants.
        ignore: ["test/operations/restore.test.ts", "test/http/shared-shape.test.ts"],
      },
      incremental: true,
      incrementalFile,
      reporters: ["progress", "json"],
      jsonReporter: { fileName: output },
      tempDirName: `.tmp/stryker/${name}`,
      ignorePatterns: [".tmp", "dist", "bench", "reports", "site"],
      disableTypeChecks: false,
      timeoutMS: 6_000,
      thresholds: { high: 95, low: 90, break: null },
    }),
  );
  const stryker = path.join(root, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const { status } = spawnSync("nice", [process.execPath, stryker, "run", configuration], {
    cwd: root,
    stdio: "inherit",
    // No tested folder needs a database server.
    env: { ...process.env, TILLKIT_TEST_POSTGRES_URL: "none" },
  });
  if (status !== 0) {
    console.error(`Stryker could not measure src/${part}.`);
    process.exit(3);
  }
  return summarise(JSON.parse(readFileSync(output, "utf8")));
}

/** Removes the survivors that run while a file is loaded: Stryker would keep them, although new tests may kill them. */
function forgetStaticSurvivors(incrementalFile) {
  const found = JSON.parse(readFileSync(incrementalFile, "utf8"));
  for (const file of Object.values(found.files))
    file.mutants = file.mutants.filter((mutant) => !(mutant.static && mutant.status === "Survived"));
  writeFileSync(incrementalFile, JSON.stringify(found));
}

function summarise({ files }) {
  const survivors = [];
  let mutants = 0;
  let killed = 0;
  for (const [file, { source, mutants: all }] of Object.entries(files)) {
    const lines = source.split("\n");
    for (const { status, location, mutatorName, replacement } of all) {
      if (status === "Killed" || status === "Timeout") killed++;
      else if (status !== "Survived" && status !== "NoCoverage") continue;
      mutants++;
      if (status === "Killed" || status === "Timeout") continue;
      const { start, end } = location;
      const from = lines
        .slice(start.line - 1, end.line)
        .join(" ")
        .trim()
        .replace(/\s+/g, " ");
      const to = replacement.trim().replace(/\s+/g, " ");
      survivors.push({ file, line: start.line, column: start.column, kind: mutatorName, from, to });
    }
  }
  return { mutants, killed, survivors };
}

main();
