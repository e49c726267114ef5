// Plants faults in a temporary copy of the project, one at a time, and runs the named test of each there.
import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const linked = ["node_modules", "dist"];
const uncopied = [...linked, ".git", ".tmp", "coverage"];

/** Returns whether a file is copied: the packages of the examples are many, and no planted fault needs them. */
const isCopied = (from) => path.basename(from) !== "node_modules";

/** The time limit of one test of a planted fault. A test that hangs has found the fault. */
const testTimeoutMs = 30_000;
const runTimeoutMs = 300_000;

/** Throws if the text of a fault does not stand exactly once in its file, or if its test is missing. */
export function checkFaults(faults) {
  for (const fault of faults) {
    plantedIn(path.join(root, "src", fault.file), fault);
    if (!existsSync(path.join(root, "test", fault.test))) throw new Error(`There is no test/${fault.test}.`);
  }
}

/**
 * A planted fault: `from` stands exactly once in `src/file` and becomes `to`. `test` is a path below test/; `title` limits the
 * run to the tests whose name matches it.
 *
 * Resolves to a result for each fault. Rejects if a text is not found exactly once, or if a test fails without any fault.
 */
export async function plantEach(faults, onResult) {
  checkFaults(faults);
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-planted-"));
  try {
    for (const name of readdirSync(root))
      if (!uncopied.includes(name))
        cpSync(path.join(root, name), path.join(folder, name), { recursive: true, filter: isCopied });
    for (const name of linked) symlinkSync(path.join(root, name), path.join(folder, name));
    const results = [];
    const passing = new Map();
    for (const fault of faults) {
      const result = await plant(folder, fault, passing);
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function plant(folder, fault, passing) {
  const from = performance.now();
  const file = path.join(folder, "src", fault.file);
  const sources = readFileSync(file, "utf8");
  const key = `${fault.test} ${fault.title ?? ""}`;
  if (!passing.has(key)) passing.set(key, await runTest(folder, fault));
  const before = passing.get(key);
  let problem = before.passed === 0 ? "No test has this title." : undefined;
  if (before.failed > 0) problem = "The test fails without the fault too.";
  let isFound = false;
  if (problem === undefined) {
    writeFileSync(file, plantedIn(file, fault));
    try {
      const { failed, broken } = await runTest(folder, fault);
      if (broken) problem = "The sources with the fault cannot be loaded.";
      isFound = failed > 0 && !broken;
    } finally {
      writeFileSync(file, sources);
    }
  }
  const seconds = Math.round((performance.now() - from) / 100) / 10;
  const { about, test } = fault;
  return { file: fault.file, about, test, isFound, seconds, ...(problem !== undefined && { problem }) };
}

/** Returns the text of the file with the fault. */
function plantedIn(file, { from, to, about }) {
  const parts = readFileSync(file, "utf8").split(from);
  if (parts.length !== 2)
    throw new Error(
      `${path.basename(file)} contains ${parts.length - 1} times, and not once: ${from} (${about})`,
    );
  return parts.join(to);
}

/** Runs one test file, or one folder of them. Resolves to the numbers of tests. */
async function runTest(folder, { test, title }) {
  const output = path.join(folder, "result.json");
  rmSync(output, { force: true });
  const args = ["--ci", "--silent", "--maxWorkers=1", "--testTimeout", String(testTimeoutMs), "--forceExit"];
  if (title !== undefined) args.push("-t", title);
  const jest = path.join(folder, "node_modules/jest/bin/jest.js");
  const command = [jest, ...args, "--json", "--outputFile", output, path.join(folder, "test", test)];
  const child = spawn(process.execPath, command, { cwd: folder, stdio: "ignore" });
  const timer = setTimeout(() => child.kill("SIGKILL"), runTimeoutMs);
  await new Promise((resolve) => child.once("exit", resolve));
  clearTimeout(timer);
  try {
    const result = JSON.parse(readFileSync(output, "utf8"));
    const { numPassedTests: passed, numFailedTests: failed, numRuntimeErrorTestSuites: broken } = result;
    return { passed, failed, broken: broken > 0 };
  } catch {
    return { passed: 0, failed: 1, broken: false };
  }
}
