// Several processes of the kit on one PostgreSQL.
import { median } from "../harness/statistics.mjs";
import { entrantOf } from "./tools.mjs";

export const title = "Processes on one PostgreSQL";
export const says =
  "64 connections, distributed over several processes of the kit, which share one database. Connections to the database are counted " +
  "at the end of a round. `maxConnections: 5` is the minimum.";

export const heads = [
  "Processes",
  "Dispatching",
  "webhooks/s",
  "p50 ms",
  "p99 ms",
  "CPU µs",
  "database CPU µs",
  "database connections",
  "of",
];

const counts = [1, 2, 4, 8, 16];
/** Fewer webhooks where each is also dispatched. `warm`: webhooks of each process before anything is measured. */
const loads = {
  held: { warm: 2500, webhooks: 3000, rounds: 5 },
  dispatched: { warm: 400, webhooks: 800, rounds: 3 },
};

export const steps = () => 2 * counts.length;

export async function run({ load, tick, isLate, rows }) {
  for (const handler of [false, true]) {
    for (const count of counts) {
      if (!isLate()) rows.push(await measured({ count, handler, load }));
      tick(`${count} processes${handler ? ", dispatching" : ""}`);
    }
  }
}

async function measured({ count, handler, load }) {
  const options = { store: "postgres", preShaped: true, maxConnections: 5, handler };
  const entrants = [entrantOf(options, { execArgv: [] })];
  try {
    const [first] = entrants;
    await first.start();
    const shared = await first.server.ask("special", { name: "name" });
    for (let n = 1; n < count; n++) entrants.push(entrantOf({ ...options, shared }, { execArgv: [] }));
    await Promise.all(entrants.slice(1).map((entrant) => entrant.start()));
    const { warm, webhooks, rounds } = handler ? loads.dispatched : loads.held;
    const all = [];
    for (let left = warm * count; left > 0; left -= 10_000)
      await exchanged(entrants, { webhooks: Math.min(left, 10_000), handler, load });
    for (let round = 0; round < rounds; round++)
      all.push(await exchanged(entrants, { webhooks, handler, load }));
    const of = (key) => median(all.map((round) => round[key]));
    const { connections, maxConnections } = all.at(-1);
    return [
      count,
      handler ? "all of them" : "held back",
      of("perSecond").toFixed(0),
      of("p50Ms").toFixed(1),
      of("p99Ms").toFixed(1),
      of("cpuUs").toFixed(0),
      of("databaseCpuUs").toFixed(0),
      connections,
      maxConnections,
    ];
  } finally {
    // The first process drops the database.
    await Promise.all(entrants.slice(1).map((entrant) => entrant.stop()));
    await entrants[0].stop();
  }
}

async function exchanged(entrants, { webhooks, handler, load }) {
  const [first] = entrants;
  const from = first.next;
  first.next += webhooks;
  await first.server.ask("prepare", { first: from, count: webhooks });
  const ports = entrants.map(({ port }) => port);
  await load.ask("plan", { module: first.module, ports, connections: 64, first: from, count: webhooks });
  for (const { server } of entrants) await server.ask("begin");
  const startedAt = performance.now();
  const { seconds, p50Ms, p99Ms } = await load.ask("go");
  // Any process may have run the handlers; all are done when nothing is left.
  const ends = [];
  for (const { server } of entrants) ends.push(await server.ask("end", { count: 0 }));
  const settled = handler ? (performance.now() - startedAt) / 1000 : seconds;
  const { connections, maxConnections } = await first.server.ask("figures");
  return {
    perSecond: webhooks / settled,
    p50Ms,
    p99Ms,
    cpuUs: ends.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / webhooks,
    databaseCpuUs: ends[0].databaseCpuUs / webhooks,
    connections,
    maxConnections,
  };
}
