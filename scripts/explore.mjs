// Runs the explorer: the whole kit in a simulated world, in which a seed decides what completes when and what fails.
// `npm run explore -- --help`
import { compileKit } from "../test/promises/crash/harness/compile-kit.mjs";
import { Progress } from "../test/promises/crash/harness/progress.mjs";
import { describePlanted, describeResult } from "../test/promises/explorer/harness/describe-result.mjs";
import { explore, findPlanted } from "../test/promises/explorer/harness/explore.mjs";
import { readOptions, usage } from "../test/promises/explorer/harness/options.mjs";

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  const compiled = options.kit ? undefined : compileKit();
  try {
    const folder = options.kit ?? compiled.folder;
    process.exitCode = (await (options.planted ? runPlanted : runSeeds)(folder, options)) ? 0 : 1;
  } finally {
    compiled?.remove();
  }
}

async function runSeeds(folder, options) {
  const { runs, quiet, json } = options;
  let failed = 0;
  const bar = new Progress({ total: runs, unit: "runs", quiet, describe: () => `${failed} violations` });
  const progress = {
    tick(count) {
      failed = count;
      bar.tick();
    },
  };
  const result = await explore(folder, options, progress);
  console.log(json ? JSON.stringify(result) : describeResult(result));
  return result.ok;
}

async function runPlanted(folder, { runs, seed, only, json, quiet }) {
  const names = only === undefined ? undefined : [only];
  const onFound = quiet ? undefined : (one) => console.error(describePlanted([one]));
  const found = await findPlanted(folder, { runs, seed, names }, onFound);
  console.log(json ? JSON.stringify(found) : describePlanted(found));
  return found.every((one) => one.runs !== undefined);
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 3;
}
