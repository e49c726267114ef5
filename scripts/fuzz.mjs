// Changes signed webhooks in the ways of an attacker, and checks that none is accepted that was not signed.
// `npm run fuzz -- --help`
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { CannotRun, readOptions, usage } from "./fuzz/options.mjs";
import { run } from "./fuzz/run.mjs";

const root = path.resolve(import.meta.dirname, "..");

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  if (!options.json) console.log(`seed ${options.seed}`);
  else if (!options.quiet) console.error(`seed ${options.seed}`);
  const result = await run(loadKit(options.kit ?? buildKit()), options);
  if (options.json) console.log(JSON.stringify(result));
  else printResult(result, options);
  process.exitCode = result.findings.length > 0 ? 1 : 0;
}

/** Builds the package and returns its folder, so that the published code is tested. */
function buildKit() {
  const { status } = spawnSync(process.execPath, [path.join(root, "scripts/build.mjs")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new CannotRun("The package cannot be built.");
  return path.join(root, "dist/cjs");
}

function loadKit(folder) {
  try {
    return createRequire(import.meta.url)(path.join(folder, "index.js"));
  } catch (error) {
    throw new CannotRun(`There is no built kit in ${folder}: ${error.message}`);
  }
}

function printResult({ findings, seed, ...result }, { only }) {
  if (only !== undefined) return console.log({ seed, ...result });
  const { cases, seconds, perSecond, accepted, untouched, refused, http } = result;
  console.log(`${cases} mutations in ${seconds} s (${perSecond}/s), ${http} of them also over HTTP`);
  console.log(
    `${refused} refused; ${accepted} accepted with unchanged signed content (${untouched} without any change)`,
  );
  for (const { case: number, what, scheme, mutations, signature, body } of findings) {
    console.log(`✗ ${what}${scheme === undefined ? "" : `: ${scheme}, ${mutations.join(", ")}`}`);
    if (number === undefined) continue;
    console.log(`  npm run fuzz -- --seed ${seed} --case ${number}`);
    console.log(`  ${JSON.stringify({ signature, body })}`);
  }
  console.log(
    findings.length === 0
      ? "Nothing was accepted that was not signed."
      : `${findings.length} findings, seed ${seed}`,
  );
}

try {
  await main();
} catch (error) {
  console.error(error instanceof CannotRun ? error.message : error);
  process.exitCode = 3;
}
