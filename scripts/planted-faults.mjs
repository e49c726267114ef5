// Plants one-line faults in a copy of the sources, and checks that the named test of each fails.
// `npm run faults:planted -- --help`
import { parseArgs } from "node:util";
import { Progress } from "../test/promises/crash/harness/progress.mjs";
import { checkoutFaults } from "./planted-faults/checkout.mjs";
import { checkFaults, plantEach } from "./planted-faults/plant.mjs";
import { mysqlFaults, postgresFaults, sqliteFaults } from "./planted-faults/sql.mjs";
import { restFaults } from "./planted-faults/rest.mjs";
import { webhookFaults } from "./planted-faults/webhook.mjs";

const usage = `npm run faults:planted -- [options]
  --only TEXT   only the faults whose file, description or test contains the text
  --json        the results as one line of JSON on standard output
  --quiet       no progress
  --list        lists the faults and plants none; exits with 3 if one no longer fits its file
Exits with 0 when a test found every fault; 1 when not; 3 when it could not run. The faults of PostgreSQL and MySQL need the
servers in TILLKIT_TEST_POSTGRES_URL and TILLKIT_TEST_MYSQL_URL; without them these faults are left out.`;

const flag = { type: "boolean", default: false };

async function main() {
  const { values: options } = parseArgs({
    options: { only: { type: "string" }, json: flag, quiet: flag, list: flag, help: { ...flag, short: "h" } },
  });
  if (options.help) return console.log(usage);
  const all = [
    ...sqliteFaults,
    ...withServer("POSTGRES", postgresFaults),
    ...withServer("MYSQL", mysqlFaults),
    ...webhookFaults,
    ...checkoutFaults,
    ...restFaults,
  ];
  const isWanted = ({ file, about, test }) =>
    [file, about, test].some((text) => text.includes(options.only ?? ""));
  const faults = all.filter(isWanted);
  checkFaults(faults);
  if (options.list) return faults.forEach(({ file, about }) => console.log(`${file}: ${about}`));
  if (faults.length === 0) throw new Error("No fault contains the text of --only.");

  let missed = 0;
  const progress = new Progress({
    total: faults.length,
    unit: "faults",
    quiet: options.quiet,
    describe: () => `${missed} not found`,
  });
  const results = await plantEach(faults, (result) => {
    if (!result.isFound) missed++;
    if (!options.json) printResult(result);
    progress.tick();
  });
  if (options.json) console.log(JSON.stringify(results));
  else console.log(`${results.length - missed} of ${results.length} planted faults were found.`);
  process.exitCode = missed > 0 ? 1 : 0;
}

/** Returns the faults, or none where no server is named for their tests. */
function withServer(name, faults) {
  const url = process.env[`TILLKIT_TEST_${name}_URL`];
  if (url !== undefined && url !== "none") return faults;
  console.error(`${faults.length} faults are left out: TILLKIT_TEST_${name}_URL names no server.`);
  return [];
}

function printResult({ isFound, file, about, test, seconds, problem }) {
  console.log(`${isFound ? "found    " : "NOT FOUND"} ${file}: ${about} (${test}, ${seconds} s)`);
  if (problem !== undefined) console.log(`          ${problem}`);
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 3;
}
