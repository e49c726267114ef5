// The targets, compared with a server that does as little as possible: what this machine could reach.
import { suites } from "../contenders/index.mjs";
import { checkTargets } from "../harness/check-targets.mjs";
import { runSuite } from "../harness/measure.mjs";
import { summarise } from "../harness/statistics.mjs";
import { targets } from "../targets.mjs";
import { number } from "./tools.mjs";

const least = "the least";

export const title = "What it could cost at least";
export const says =
  `*${least}*: an HMAC, JSON.parse and one transaction for all that arrived at the same time, on the pre-shaped server; two tables with a ` +
  "key each, no strict parsing, no reconciliation, no lock. Medians of interleaved rounds.";

export const heads = ["", "", "CPU µs", "webhooks/s", "p50 ms", "database CPU µs"];

const stores = {
  memory: "memory",
  "memory-8": "memory",
  sqlite: "sqlite",
  "single-sqlite": "sqlite",
  postgres: "postgres",
  "single-postgres": "postgres",
};

/** The targets without a handler or a log, on the pre-shaped server where there is a choice. */
const measured = targets.filter(
  ({ suite, of, to, key }) =>
    suite in stores &&
    to !== undefined &&
    !/ungrouped/.test(to) &&
    !/handler|logging/.test(of) &&
    (/pre-shaped/.test(of) || !["cpuUs", "perSecond"].includes(key)),
);

const suitesOn = (wanted) => suites.filter(({ name }) => wanted.includes(stores[name]));

/** Returns the suite with only the contenders of its targets, and the least. */
function reduced({ name, contenders, ...suite }) {
  const named = measured.filter((target) => target.suite === name).flatMap(({ of, to }) => [of, to]);
  return {
    ...suite,
    name,
    contenders: [
      ...contenders.filter((contender) => named.includes(contender.name)),
      { name: least, file: "least.mjs", options: { store: stores[name] } },
    ],
  };
}

export const steps = ({ stores: wanted, rounds }) =>
  suitesOn(wanted).reduce((sum, suite) => sum + reduced(suite).contenders.length * (1 + rounds), 0);

export async function run({ stores: wanted, rounds, seconds, minutes, tick, rows, checks }) {
  const endsAt = performance.now() + minutes * 60_000;
  for (const suite of suitesOn(wanted).map(reduced)) {
    const entrants = await runSuite({ ...suite, rounds, seconds }, { tick, endsAt });
    for (const { name, rounds: each } of entrants) {
      const { cpuUs, perSecond, p50Ms, databaseCpuUs } = summarise(each, each);
      const database = databaseCpuUs === undefined ? "" : databaseCpuUs.toFixed(0);
      rows.push([
        suite.title,
        name,
        cpuUs.toFixed(0),
        number(Math.round(perSecond)),
        p50Ms.toFixed(2),
        database,
      ]);
    }
    checks.push(...verdicts(suite, entrants));
  }
}

function verdicts({ name, title: where }, entrants) {
  const own = measured.filter(({ suite }) => suite === name);
  const ofLeast = checkTargets(
    own.map((target) => ({ ...target, of: least })),
    name,
    entrants,
  );
  return checkTargets(own, name, entrants).map(({ what, of, to, ratio, atMost, atLeast }, index) => {
    const bound = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
    const lowest = ofLeast[index].ratio.toFixed(2);
    return `${where}: ${what} to ${to}: target ${bound}; ${least} ${lowest}, ${of} ${ratio.toFixed(2)}`;
  });
}
