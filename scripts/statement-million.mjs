// Checks that `tillkit statement` finds exactly the planted differences of a statement with a million rows, in bounded memory.
// `npm run statement:million -- --help`
import { parseArgs } from "node:util";
import { compileKit } from "../test/promises/crash/harness/compile-kit.mjs";
import { compareGenerated } from "../test/statement/million/run.mjs";

const usage = `npm run statement:million -- [options]

Makes a store and a statement for the same payments, plants differences of every kind, and runs \`tillkit statement\`. It runs
a hundredth of the rows first, so that the two peaks of memory can be compared.

  --rows <number>   Default: 1000000
  --seed <number>   Default: 1
  --kit <folder>    A compiled kit. Default: the sources are compiled.
  --html <file>     Keeps the HTML report.
  --heap <MiB>      The maximum heap of the command. Default: Node's own.
  --once            Does not run the hundredth first.
  --json            One JSON document on standard output.
  --quiet           No progress.

Exits with 0 where exactly the planted differences are found, 1 where not, 3 where it could not run.`;

const grouped = (count) => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",");

function printResult(result) {
  const { rows, planted, found, missed, invented, repeated, sums } = result;
  const { bytes, stored, seconds, peakMiB, counts } = result;
  console.log(`
${grouped(rows)} rows (${(bytes / 1e6).toFixed(1)} MB) compared with ${grouped(stored)} payments completed in the period
  planted ${grouped(planted)}, found ${grouped(found)}, missed ${missed.length}, invented ${invented.length}, repeated ${repeated.length}, wrong sums ${sums.length}
  ${Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${kind} ${grouped(count)}`)
    .join(", ")}
  ${seconds} s, at most ${peakMiB} MiB of memory`);
  for (const one of [
    ...missed.map((one) => `missed ${one}`),
    ...invented.map((one) => `invented ${one}`),
    ...sums,
  ].slice(0, 20))
    console.log(`  ${one}`);
}

async function main() {
  const { values } = parseArgs({
    options: {
      rows: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
      kit: { type: "string" },
      html: { type: "string" },
      heap: { type: "string" },
      once: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const [rows, seed] = [Number(values.rows), Number(values.seed)];
  const heapMiB = values.heap && Number(values.heap);
  if (!Number.isInteger(rows) || rows < 100 || !Number.isInteger(seed)) throw new Error(usage);
  const compiled = values.kit ? { folder: values.kit, remove() {} } : compileKit();
  try {
    const results = [];
    for (const count of values.once ? [rows] : [Math.max(100, Math.round(rows / 100)), rows]) {
      const html = count === rows ? values.html : undefined;
      const result = await compareGenerated({
        kit: compiled.folder,
        rows: count,
        seed,
        quiet: values.quiet,
        html,
        heapMiB,
      });
      results.push(result);
      if (!values.json) printResult(result);
    }
    if (values.json) console.log(JSON.stringify(results));
    const isRight = ({ missed, invented, repeated, sums }) =>
      missed.length + invented.length + repeated.length + sums.length === 0;
    return results.every(isRight) ? 0 : 1;
  } finally {
    compiled.remove();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error);
  process.exitCode = 3;
}
