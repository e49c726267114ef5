// `npm test`: what a person waits for. `npm run test:all`: everything that can run on this machine. Both run from a fresh clone.
// Imports only Node's own modules, because the packages may not be installed yet. `--quick`: only the tests on the sources.
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { installMissing } from "./test/install.mjs";
import { leftOutBy, machineLacks } from "./test/left-out.mjs";
import { searchPrinted } from "./test/printed-secrets.mjs";
import { longTests, whyLong } from "./test/long.mjs";
import { testsOfSourcesOnly } from "./test/sources-only.mjs";
import { jestTotals, printedBy, runLists, runStage } from "./test/stage.mjs";
import { matrix, starts } from "./test/starts.mjs";
import { summary } from "./test/summary.mjs";

process.chdir(path.resolve(import.meta.dirname, ".."));
const [quick, all] = ["--quick", "--all"].map((option) => process.argv.includes(option));
const unknown = process.argv.slice(2).filter((argument) => argument !== "--quick" && argument !== "--all");
if (unknown.length > 0) {
  console.error(
    `npm test accepts only --quick and --all, not ${unknown.join(" ")}. For single files: npx jest test/html`,
  );
  process.exit(2);
}

const results = [];
const leftOut = machineLacks();
/** The files with the output of the tests. */
const printed = [];

/** Runs one command as a stage. It counts as one test. */
function check(name, command) {
  return add(runStage(name, command));
}

/** Runs lists of commands as stages, at the same time. */
async function checkLists(...lists) {
  results.push(...(await runLists(...lists)));
}

/** Runs jest as a stage. Its tests are counted one by one. */
async function jest(name, target, ignored = []) {
  const file = path.resolve(`.tmp/jest-${target}.json`);
  const ignore = ["/node_modules/", ...ignored].flatMap((pattern) => ["--testPathIgnorePatterns", pattern]);
  const command = ["jest", "--json", "--outputFile", file, ...ignore];
  const environment = { TILLKIT_TEST_TARGET: target };
  const result = await runStage(name, command, { environment, outputFile: file });
  leftOut.push(...leftOutBy(file));
  printed.push(printedBy(file));
  return add(Promise.resolve({ ...result, totals: jestTotals(file, result.passed) }));
}

async function add(stage) {
  const result = await stage;
  results.push(result);
  return result.passed;
}

mkdirSync(".tmp", { recursive: true });
const installed = await installMissing();
if (installed !== undefined) await add(Promise.resolve(installed));

if (installed?.passed === false) {
  leftOut.push("everything else, because the packages could not be installed");
} else if (quick) {
  await jest("Tests on the sources", "src", all ? [] : longTests);
  leftOut.push("everything except the tests on the sources, because of --quick");
  if (!all) leftOut.push(whyLong);
} else {
  const built = await check("Build", ["scripts/build.mjs"]);
  // After the build: the linter and the types of the example use the types of the built package.
  const format = { Format: ["prettier", "--check", "--log-level", "warn", "."] };
  await checkLists(format, {
    Lint: ["oxlint", "--type-aware", ...existing("src", "test", "examples", "scripts", "bench")],
    Types: ["scripts/tsc.mjs", "-p", "tsconfig.json"],
    ...(existsSync("examples/express-shop/tsconfig.json") && {
      "Types of the example": ["scripts/tsc.mjs", "--noEmit", "-p", "examples/express-shop/tsconfig.json"],
    }),
  });
  // The ORMs and the frameworks meet the packed package.
  await jest("Tests on the sources", "src", [
    "/test/stores/orms/",
    "/test/frameworks/",
    ...(all ? [] : longTests),
  ]);
  if (!all) leftOut.push(whyLong);
  if (all) {
    const stores = existsSync("examples/stores/node_modules");
    if (!stores) leftOut.push("the benchmark of the example stores: npm ci --prefix examples/stores");
    for (const lists of starts) await checkLists(...lists.map((list) => startsOf(list, stores)));
    // It builds `dist` again, which others use.
    await check("Starts: npm run matrix", matrix);
  }
  if (!all && built) {
    await check("Pack", ["scripts/pack.mjs"]);
    await check("Demo", ["scripts/demo.mjs"]);
  } else if (built && (await check("Pack", ["scripts/pack.mjs"]))) {
    // These would test nothing new.
    await jest("Tests on the packed package", "packed", [
      ...testsOfSourcesOnly().map((file) => `/${file}$`),
      // These pack the package themselves.
      "/test/package/",
      "/test/shop/",
      // These are about what the code promises, which is the same code, and take the longest.
      "/test/promises/",
      // The same code over the servers. The ORMs' programs and the frameworks use it from the package.
      "/test/store/sql/(mysql|postgres|pooled|tables)/",
      "/test/store/sql/(?!open-store|full-disk)[^/]+$",
      // These give the exam wrong stores. The tests with right ones show that the package has the exam.
      "/test/store/over/(defective|subtle)",
      "/test/store/exam/every-answer",
      // These start processes that run the compiled sources.
      "/test/cli/bin",
      "/test/docs/quick-start",
      // These are about the examples, the benchmark, the descriptions and the pages, which are the same files.
      "/test/stores/(?!orms)",
      "/test/bench/",
      "/test/interfaces/",
      "/test/sandbox/accessibility",
    ]);
    await check("Package: publint", ["publint", "--strict"]);
    await check("Package: types for every importer", ["attw", "--pack", ".", "--profile", "node16"]);
    if (existsSync("scripts/demo.mjs")) await check("Demo", ["scripts/demo.mjs"]);
  } else {
    leftOut.push(
      "the tests on the packed package, its checks and the demo, because it could not be built and packed",
    );
  }
}

if (printed.length > 0) await add(searchPrinted(printed));
process.exitCode = summary(results, leftOut);

/** Names these commands as stages, without that of the example stores where their packages are absent. */
function startsOf(commands, hasStores) {
  const wanted = Object.entries(commands).filter(([name]) => hasStores || !name.includes("stores"));
  return Object.fromEntries(wanted.map(([name, command]) => [`Starts: ${name}`, command]));
}

function existing(...folders) {
  return folders.filter((folder) => existsSync(folder));
}
