import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

// A stage that hangs must not prevent the summary.
const maxMs = 60 * 60_000;
/** The maximum time from jest's results to its exit. */
const maxAfterResultsMs = 20_000;

/**
 * Runs a command, passes its output on, and prints its result. The command is a script of this project, `npm`, or the name of
 * an installed tool. A run of jest has an `outputFile`. With `held`, everything is printed at the end.
 */
export async function runStage(name, [tool, ...args], { environment = {}, outputFile, held } = {}) {
  const print = held ? (text) => held.push(text) : (text) => process.stdout.write(text);
  print(`\n── ${name} ${"─".repeat(Math.max(0, 76 - name.length))}\n\n`);
  if (outputFile !== undefined) rmSync(outputFile, { force: true });
  const started = performance.now();
  const problem = await run(tool, args, { environment, outputFile, held });
  const seconds = (performance.now() - started) / 1000;
  const passed = problem === undefined;
  print(`\n${passed ? "✓" : "✗"} ${name}: ${passed ? "passed" : problem}, ${seconds.toFixed(1)} s\n`);
  if (held) process.stdout.write(held.join(""));
  return { name, passed, seconds, totals: { passed: Number(passed), failed: Number(!passed), skipped: 0 } };
}

/** Runs all lists at the same time, and the commands of one list one after the other. Resolves to the results. */
export async function runLists(...lists) {
  const ended = lists.map(async (stages) => {
    const results = [];
    for (const [name, command] of Object.entries(stages))
      results.push(await runStage(name, command, { held: [] }));
    return results;
  });
  return (await Promise.all(ended)).flat();
}

/** Returns the file with the output of a stage that has an output file. */
export function printedBy(outputFile) {
  return `${outputFile}.printed`;
}

/** Returns the totals of a run of jest. A failed run has at least one failure, even where no test failed. */
export function jestTotals(file, passed) {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(readFileSync(file, "utf8"));
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  return {
    passed: report.numPassedTests,
    failed: passed ? failed : Math.max(1, failed),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Resolves with the problem of a run, or with `undefined`. */
function run(tool, args, { environment, outputFile, held }) {
  return new Promise((resolve) => {
    const [command, ...before] = commandOf(tool);
    const child = spawn(command, [...before, ...args], {
      // No input: nothing here may wait for an answer.
      stdio: outputFile || held ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
      // `npm test --silent` must silence npm itself, but not the stages.
      env: { ...process.env, ...colors(), npm_config_loglevel: undefined, ...environment },
      shell: process.platform === "win32" && tool === "npm",
    });
    if (outputFile !== undefined) keepPrinted(child, printedBy(outputFile));
    if (held)
      for (const from of [child.stdout, child.stderr]) from.on("data", (piece) => held.push(String(piece)));
    let stopped;
    const stop = (why) => {
      stopped ??= why;
      child.kill("SIGKILL");
    };
    const timers = [setTimeout(() => stop("took too long, and was stopped"), maxMs)];
    if (outputFile !== undefined) {
      const look = setInterval(() => {
        if (!existsSync(outputFile)) return;
        clearInterval(look);
        const why = "did not end after its last test, because something was left open, and was stopped";
        timers.push(setTimeout(() => stop(why), maxAfterResultsMs));
      }, 500);
      timers.push(look);
    }
    const end = (problem) => {
      for (const timer of timers) clearTimeout(timer);
      resolve(problem);
    };
    child.once("error", (error) => end(`could not be started (${error.message})`));
    child.once("exit", (code, signal) => {
      const why = signal === null ? `failed (exit code ${code})` : `was ended by ${signal}`;
      const problem = code === 0 ? undefined : (stopped ?? why);
      if (!held) return end(problem);
      // What is held should be complete, but a process that was left behind may keep the pipes open.
      void Promise.race([once(child, "close"), pause(2000)]).then(() => end(problem));
    });
  });
}

function commandOf(tool) {
  if (tool === "npm") return ["npm"];
  if (tool.endsWith(".mjs")) return [process.execPath, tool];
  // From the package itself, because the links in .bin are shell scripts on some platforms.
  const folder = path.join("node_modules", tool === "attw" ? "@arethetypeswrong/cli" : tool);
  const { bin } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  return [process.execPath, path.join(folder, typeof bin === "string" ? bin : bin[tool])];
}

/** Passes the output of a process on, and writes it to a file. */
function keepPrinted(child, file) {
  const kept = createWriteStream(file);
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.on("data", (piece) => {
      to.write(piece);
      kept.write(piece);
    });
  }
  child.once("exit", () => {
    // Its own child processes may live on and keep the pipes open.
    setTimeout(() => {
      for (const from of [child.stdout, child.stderr]) from.destroy();
      kept.end();
    }, 300);
  });
}

/** Programs print no colors into a pipe, unless this variable is set. */
function colors() {
  return process.stderr.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {};
}
