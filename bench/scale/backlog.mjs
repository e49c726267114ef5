// Events that wait for their dispatch: the memory that they take, how fast they are dispatched, and what webhooks cost meanwhile.
import { setTimeout as pause } from "node:timers/promises";
import { entrantOf, fill, number, residentMiB } from "./tools.mjs";

export const title = "What waits";
export const says =
  "A process that does not dispatch stores the payments, nine of ten with an event that no handler has seen. Then a new process " +
  "starts on the same database with one handler, which updates a row. MiB: its memory after one second, and the maximum during ten " +
  "seconds of dispatching. Then it also receives webhooks. For the store in memory it is the process that holds the data.";

export const heads = [
  "Store",
  "Payments",
  "MiB at first",
  "MiB at most",
  "dispatched/s",
  "webhooks/s beside it",
  "p50 ms of those",
  "counts() ms",
];

const seconds = 10;
const webhooks = 500;
const timeoutMs = 30_000;

export function steps({ stores, backlog }) {
  return stores.length * (Math.ceil(backlog / 20_000) + seconds);
}

export async function run({ stores, backlog, load, tick, isLate, rows }) {
  for (const store of stores) {
    const holding = entrantOf({ store });
    const fresh = [];
    try {
      await holding.start();
      const empty = residentMiB(holding);
      const progress = () => tick(`${store}: storing ${number(backlog)}`);
      await fill(holding, { first: 1, count: backlog, withOrders: true, tick: progress, isLate });
      if (store === "memory") {
        const more = residentMiB(holding) - empty;
        rows.push([store, number(backlog), `${more.toFixed(0)} more`, "", "", "", "", ""]);
        for (let n = 0; n < seconds; n++) tick(store);
        continue;
      }
      const countsMs = await holding.server.ask("special", { name: "countsMs" });
      const shared = await holding.server.ask("special", { name: "name" });
      const worker = entrantOf({ store, shared, handler: true }, { execArgv: [] });
      fresh.push(worker);
      const found = await worked(worker, holding, { backlog, load, tick });
      rows.push([store, number(backlog), ...found, countsMs.toFixed(1)]);
    } finally {
      // Killed, because a process that is busy with its backlog may not answer.
      for (const worker of fresh) worker.server.end();
      await holding.stop();
    }
  }
}

/**
 * Measures a while of dispatching, and then webhooks beside it. The other process counts in the database what was handled,
 * because the busy one may not answer.
 */
async function worked(worker, holding, { backlog, load, tick }) {
  const spawnedAt = performance.now();
  const isStarted = within(timeoutMs, worker.start());
  const paid = async () => {
    try {
      return { count: await holding.server.ask("special", { name: "paid" }), at: performance.now() };
    } catch (error) {
      // SQLite has one writer, which the other process may hold for a while.
      if (performance.now() - spawnedAt > 60_000) throw error;
      return paid();
    }
  };
  const events = backlog - Math.floor(backlog / 10);
  const sizes = [];
  let before = { count: 0, at: spawnedAt };
  let after = before;
  for (let n = 0; n < seconds; n++) {
    tick(`${worker.name}: dispatching`);
    if (after.count === events) continue;
    await pause(1000);
    sizes.push(residentMiB(worker));
    after = await paid();
    // The start does not count, unless the backlog is already done.
    if (n === 2 && after.count < events) before = after;
  }
  const rate = ((after.count - before.count) * 1000) / (after.at - before.at);
  const beside = (await isStarted) && (await within(timeoutMs, taken(worker, load, backlog + 1)));
  const [perSecond, p50Ms] = beside
    ? [beside.perSecond.toFixed(0), beside.p50Ms.toFixed(1)]
    : ["none", `no answer in ${timeoutMs / 1000} s`];
  return [sizes[0].toFixed(0), Math.max(...sizes).toFixed(0), rate.toFixed(0), perSecond, p50Ms];
}

async function taken(worker, load, first) {
  await worker.server.ask("prepare", { first, count: webhooks });
  // Not drained: the backlog comes first.
  return worker.exchange(load, { first, count: webhooks, undrained: true });
}

/** Resolves to the promise's value, or true if it has none; to false when it takes longer than `ms`. */
async function within(ms, promise) {
  const late = new AbortController();
  const answered = promise.then((value) => value ?? true);
  // It rejects when the process is killed; by then the result does not matter.
  answered.catch(() => {});
  const answer = await Promise.race([answered, pause(ms, false, { signal: late.signal }).catch(() => false)]);
  late.abort();
  return answer;
}
