// How fast final records are pruned, which must be faster than they arrive; and how long a sync of this machine's disk takes.
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { quantile } from "../harness/statistics.mjs";
import { entrantOf, number } from "./tools.mjs";

export const title = "Upkeep";
export const says =
  "All webhooks have one handler that is done, and are pruned: the raw bytes, the event and its dispatch are deleted, in transactions " +
  "of 500. *log*, *database CPU*: per pruned webhook. The last rows are a file that grows by that much and is synced each time.";

export const heads = ["", "each second", "CPU µs", "database CPU µs", "log bytes", "p50 ms", "p99 ms"];

const syncs = [4, 64, 512];

export const steps = ({ stores }) => stores.filter(isDurable).length + syncs.length;

export async function run({ stores, webhooks, load, tick, isLate, rows }) {
  for (const store of stores.filter(isDurable)) {
    if (!isLate()) rows.push([`${store}: prune`, ...(await pruned(store, webhooks, load))]);
    tick(`${store}: prune`);
  }
  for (const kib of syncs) {
    rows.push([`disk: ${number(kib)} KiB and a sync`, ...synced(kib)]);
    tick(`disk: ${kib} KiB`);
  }
}

function isDurable(store) {
  return store !== "memory";
}

async function pruned(store, count, load) {
  const entrant = entrantOf({ store, preShaped: true, handler: true });
  try {
    await entrant.start();
    await entrant.server.ask("prepare", { first: 1, count });
    await entrant.exchange(load, { first: 1, count });
    const before = await entrant.server.ask("figures");
    await entrant.server.ask("begin");
    const startedAt = performance.now();
    const gone = await entrant.server.ask("special", { name: "prune" });
    const seconds = (performance.now() - startedAt) / 1000;
    const { cpuUs, databaseCpuUs } = await entrant.server.ask("end", { count: 0, undrained: true });
    const after = await entrant.server.ask("figures");
    if (gone.webhooks !== count || gone.events !== count)
      throw new Error(`Of ${count} webhooks were pruned: ${JSON.stringify(gone)}`);
    return [
      number(Math.round(count / seconds)),
      (cpuUs / count).toFixed(0),
      databaseCpuUs === undefined ? "" : (databaseCpuUs / count).toFixed(0),
      number(Math.round((after.walBytes - before.walBytes) / count)),
      "",
      "",
    ];
  } finally {
    await entrant.stop();
  }
}

function synced(kib) {
  const folder = path.resolve(import.meta.dirname, "../../.tmp");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `bench-sync-${process.pid}`);
  const bytes = Buffer.alloc(kib * 1024, 1);
  const descriptor = openSync(file, "w");
  const taken = [];
  try {
    const until = performance.now() + 3000;
    for (let at = performance.now(); at < until && taken.length < 2000; at = performance.now()) {
      writeSync(descriptor, bytes);
      fdatasyncSync(descriptor);
      taken.push(performance.now() - at);
    }
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
  const all = taken.reduce((sum, each) => sum + each, 0);
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(taken, share).toFixed(2));
  return [number(Math.round((taken.length * 1000) / all)), "", "", "", p50, p99];
}
