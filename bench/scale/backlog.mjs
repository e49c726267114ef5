// Events that wait for their dispatch: what they cost in memory, what webhooks cost beside them, how fast they go.
import { setTimeout as pause } from "node:timers/promises";
import { entrantOf, fill, number, residentMiB } from "./tools.mjs";

export const title = "What waits";
export const says =
  "So many payments are stored, nine of ten with an event that no handler has had, by a process that does not dispatch. Then a fresh " +
  "process starts on the same database with one handler, which updates a row. MiB: its memory before the first claim, and the most " +
  "that was seen while it dispatched for ten seconds and took webhooks beside that. In memory it is the process that holds them.";

export const heads = [
  "Store",
  "Payments",
  "MiB at the start",
  "MiB at most",
  "dispatched/s",
  "webhooks/s beside it",
  "p50 ms of those",
  "counts() ms",
];

const seconds = 10;
const webhooks = 1000;

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
      const spawnedAt = performance.now();
      await worker.start();
      const found = await worked(worker, { backlog, spawnedAt, load, tick });
      rows.push([store, number(backlog), ...found, countsMs.toFixed(1)]);
    } finally {
      for (const worker of fresh) await worker.stop();
      await holding.stop();
    }
  }
}

/** Dispatching alone for half of the time, and with webhooks coming in for the other half. */
async function worked(worker, { backlog, spawnedAt, load, tick }) {
  const started = residentMiB(worker);
  let most = started;
  const look = async () => {
    const count = await worker.server.ask("special", { name: "handled" });
    most = Math.max(most, residentMiB(worker));
    return { at: performance.now(), count };
  };
  const events = backlog - Math.floor(backlog / 10);
  // A small backlog may be gone before the process answers for the first time.
  let before = await look();
  let after = before;
  if (before.count === events) before = { at: spawnedAt, count: 0 };
  for (let n = 0; n < seconds / 2; n++) {
    tick(`${worker.name}: dispatching`);
    if (after.count === events) continue;
    await pause(1000);
    after = await look();
  }
  const rate = ((after.count - before.count) * 1000) / (after.at - before.at);
  const first = backlog + 1;
  await worker.server.ask("prepare", { first, count: webhooks });
  // Not waited for: the whole backlog comes first.
  const { perSecond, p50Ms } = await worker.exchange(load, { first, count: webhooks, undrained: true });
  await look();
  for (let n = 0; n < seconds / 2; n++) tick(`${worker.name}: taking webhooks`);
  return [started.toFixed(0), most.toFixed(0), rate.toFixed(0), perSecond.toFixed(0), p50Ms.toFixed(1)];
}
