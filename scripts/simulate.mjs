// Runs the simulation: many payments, a service that loses webhooks, and a comparison of the stored payments with the service.
// `npm run simulate -- --help`
import { compileKit } from "../test/promises/crash/harness/compile-kit.mjs";
import { readOptions, usage } from "../test/promises/simulation/harness/options.mjs";
import { run } from "../test/promises/simulation/harness/run.mjs";
import { describeResult } from "../test/promises/simulation/harness/describe-result.mjs";

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  if (!options.quiet) console.error(`seed ${options.seed}`);
  const { folder, remove } = options.kit ? { folder: options.kit, remove() {} } : compileKit();
  try {
    const result = await run(options, folder);
    console.log(options.json ? JSON.stringify(result) : describeResult(result));
    process.exitCode = result.ok ? 0 : 1;
  } finally {
    remove();
  }
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 3;
}
