// What a webhook costs with more and more stored payments, each with its webhook and its event.
import { median, quantile } from "../harness/statistics.mjs";
import { entrantOf, fill, number } from "./tools.mjs";

export const title = "What is stored";
export const says =
  "1,000 webhooks a round over 64 connections, without dispatching, on the pre-shaped server. Each round measures every size, in " +
  "processes that have run equally many webhooks. *new*: about payments that were created a moment before, which is the usual case; " +
  "*scattered*: about payments anywhere among the stored ones. × is the ratio to the smallest size, taken round by round, with its " +
  "quartiles. Nine of ten payments have a webhook and an event on record.";

export const heads = [
  "Store",
  "Payments",
  "Load",
  "CPU µs",
  "×",
  "quartiles",
  "webhooks/s",
  "p50 ms",
  "database CPU µs",
  "×",
];

const perRound = 1000;

export function steps({ stores, sizes, rounds }) {
  return stores.length * sizes.reduce((sum, size) => sum + Math.ceil(size / 20_000) + 1 + 2 * rounds, 0);
}

export async function run({ stores, rows, checks, ...context }) {
  for (const store of stores) {
    const measured = await measure(context, store);
    rows.push(...measured.rows);
    checks.push(...measured.checks);
  }
}

async function measure({ sizes, rounds, load, tick, isLate }, store) {
  const sized = [];
  try {
    for (const size of sizes) {
      const entrant = entrantOf({ store, preShaped: true });
      const one = { size, entrant, next: size + 1, scattered: 0, rounds: { new: [], scattered: [] } };
      sized.push(one);
      await entrant.start();
      // The smallest size is stored again before each round. These rounds compile the code.
      await fill(entrant, {
        first: 1,
        count: size,
        tick: () => tick(`${store}: storing ${number(size)}`),
        isLate,
      });
      for (let n = 0; n < 4; n++) await renewed(one, load);
      tick(`${store}: warm at ${number(size)}`);
    }
    for (let round = 0; round < rounds; round++) {
      for (const kind of ["new", "scattered"]) {
        for (const one of sized) {
          if (!isLate())
            one.rounds[kind].push(await (kind === "new" ? renewed(one, load) : scattered(one, load)));
          tick(`${store}: ${kind} at ${number(one.size)}`);
        }
      }
    }
    return summaryOf(store, sized);
  } finally {
    for (const { entrant } of sized) await entrant.stop();
  }
}

/** Sends webhooks about new payments. At the smallest size they are the only ones stored. */
async function renewed(one, load, { inOrder = true } = {}) {
  const { entrant, size } = one;
  const isAll = size === perRound && (await emptied(entrant));
  const first = isAll ? 1 : one.next;
  if (!isAll) one.next += perRound;
  await entrant.server.ask("prepare", { first, count: perRound });
  return entrant.exchange(load, { first, count: perRound, ...(isAll && !inOrder && { among: size }) });
}

/** Sends webhooks about every tenth stored payment, in no order; at the smallest size about all of them. */
async function scattered(one, load) {
  const { entrant, size } = one;
  if (size === perRound) return renewed(one, load, { inOrder: false });
  const first = one.scattered;
  one.scattered += perRound;
  return entrant.exchange(load, { first, count: perRound, among: size, every: 10 });
}

/** Empties the store. Not in memory, where a thousand more payments a round make no difference. */
async function emptied(entrant) {
  if (entrant.contender.options.store === "memory") return false;
  await entrant.server.ask("special", { name: "empty" });
  return true;
}

function summaryOf(store, sized) {
  const rows = [];
  const checks = [];
  for (const kind of ["new", "scattered"]) {
    const [smallest] = sized;
    for (const { size, rounds } of sized) {
      const all = rounds[kind];
      const of = (key) => median(all.map((round) => round[key]));
      const ratios = (key) => all.map((round, n) => round[key] / smallest.rounds[kind][n]?.[key]);
      const cpu = ratios("cpuUs");
      const database = all[0]?.databaseCpuUs === undefined ? undefined : of("databaseCpuUs");
      rows.push([
        store,
        number(size),
        kind,
        of("cpuUs").toFixed(0),
        median(cpu).toFixed(2),
        `${quantile(cpu, 0.25).toFixed(2)} to ${quantile(cpu, 0.75).toFixed(2)}`,
        of("perSecond").toFixed(0),
        of("p50Ms").toFixed(2),
        database?.toFixed(0) ?? "",
        database === undefined ? "" : median(ratios("databaseCpuUs")).toFixed(2),
      ]);
      if (size < 1_000_000 || smallest.size !== 1000) continue;
      const ratio = median(cpu);
      checks.push(
        `${store}, ${kind}: ${ratio.toFixed(2)} x the cost with 1,000 (target ≤ 1.25: ${ratio <= 1.25 ? "met" : "missed"})`,
      );
    }
  }
  return { rows, checks };
}
