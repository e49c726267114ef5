// Dispatches per second of one process with slow handlers, and how long the sender waits meanwhile.
import { entrantOf, number } from "./tools.mjs";

export const title = "Slow handlers";
export const says =
  "One handler for every webhook, which waits and then updates a row. dispatched/s: until the last one is done; the bound is " +
  "concurrency divided by the handler's time. p50: of the acknowledgement, which waits for no handler.";

export const heads = [
  "Store",
  "Handler ms",
  "Concurrency",
  "dispatched/s",
  "of the bound",
  "p50 ms",
  "CPU µs",
];

const cases = [
  { handlerMs: 0, concurrency: 8 },
  { handlerMs: 10, concurrency: 8 },
  { handlerMs: 100, concurrency: 8 },
  { handlerMs: 100, concurrency: 64 },
  { handlerMs: 1000, concurrency: 64 },
];

export const steps = ({ stores }) => stores.length * cases.length;

export async function run({ stores, load, tick, rows }) {
  for (const store of stores) {
    for (const { handlerMs, concurrency } of cases) {
      const dispatch = { concurrency };
      // Handlers' transactions can use all connections but four.
      const maxConnections = concurrency > 8 ? 20 : undefined;
      const options = { store, preShaped: true, handler: true, handlerMs, dispatch, maxConnections };
      const entrant = entrantOf(options);
      await entrant.start();
      const bound = handlerMs === 0 ? Infinity : (concurrency * 1000) / handlerMs;
      const count = Math.round(Math.max(128, Math.min(2000, bound * 4)));
      await taken(entrant, load, Math.min(count, 256));
      const { perSecond, p50Ms, cpuUs } = await taken(entrant, load, count);
      await entrant.stop();
      const share = Number.isFinite(bound)
        ? `${((100 * perSecond) / bound).toFixed(0)} % of ${number(bound)}`
        : "";
      rows.push([
        store,
        handlerMs,
        concurrency,
        perSecond.toFixed(0),
        share,
        p50Ms.toFixed(1),
        cpuUs.toFixed(0),
      ]);
      tick(`${store}: ${handlerMs} ms`);
    }
  }
}

async function taken(entrant, load, count) {
  const first = entrant.next;
  entrant.next += count;
  await entrant.server.ask("prepare", { first, count });
  return entrant.exchange(load, { first, count });
}
