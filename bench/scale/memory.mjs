// Memory of a shop after its first orders.
import { suites } from "../contenders/index.mjs";
import { Entrant } from "../harness/measure.mjs";
import { median } from "../harness/statistics.mjs";
import { number, residentMiB } from "./tools.mjs";

export const title = "What a small shop takes";
export const says =
  "Memory of the process after its start and after each number of orders, one after the other: checkout, webhook, and the order's row. " +
  "The median of the processes, with Node's own settings. Both servers carry the benchmark's own code.";

const orders = [1, 20, 200];
const maxLaunches = 5;

export const heads = ["Contender", "started, MiB", ...orders.map((count) => `after ${count}, MiB`)];

const launchesOf = ({ rounds }) => Math.min(rounds, maxLaunches);

export const steps = (options) => contendersOn(options.stores).length * launchesOf(options);

export async function run({ stores, rounds, load, tick, isLate, rows }) {
  const launches = launchesOf({ rounds });
  for (const contender of contendersOn(stores)) {
    const measured = [];
    for (let launch = 0; launch < launches; launch++) {
      if (!isLate()) measured.push(await launched(contender, load));
      tick(contender.name);
    }
    const columns = [0, ...orders].map((_, n) => median(measured.map((each) => each[n])));
    rows.push([contender.name, ...columns.map((each) => number(Math.round(each)))]);
  }
}

/** Returns what takes an order: code by hand, and the kit with a handler. */
function contendersOn(stores) {
  return suites
    .filter(({ name }) => stores.some((store) => name === `whole-${store}`))
    .flatMap(({ contenders }) => contenders.slice(0, 2));
}

async function launched(contender, load) {
  const entrant = new Entrant(contender, 1);
  await entrant.start();
  try {
    const found = [residentMiB(entrant)];
    for (const count of orders) {
      const first = entrant.next;
      const more = count - first + 1;
      entrant.next += more;
      await entrant.server.ask("prepare", { first, count: more });
      await entrant.exchange(load, { first, count: more });
      found.push(residentMiB(entrant));
    }
    return found;
  } finally {
    await entrant.stop();
  }
}
