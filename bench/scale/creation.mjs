// What it costs to create a payment.
import { median } from "../harness/statistics.mjs";
import { entrantOf, number } from "./tools.mjs";

export const title = "What is created";
export const says =
  "`payments.create()`, 64 at a time: two transactions, one before the request to the service and one after its answer. The service " +
  "answers immediately and within the process, so that the request itself, its TLS and the wait for it are not counted. *log*: as below.";

export const heads = ["Store", "payments/s", "CPU µs", "database CPU µs", "log bytes"];

const rounds = 4;

export const steps = ({ stores }) => stores.length * rounds;

export async function run({ stores, webhooks, tick, isLate, rows }) {
  for (const store of stores) {
    const entrant = entrantOf({ store });
    const measured = [];
    try {
      await entrant.start();
      for (let round = 0; round < rounds; round++) {
        if (!isLate()) measured.push(await created(entrant, Math.round(webhooks / 4)));
        // As autovacuum does within a minute: before, PostgreSQL takes the tables for empty, and scans them.
        await entrant.server.ask("special", { name: "analyse" });
        tick(`${store}: creating`);
      }
    } finally {
      await entrant.stop();
    }
    // The first round compiles the code.
    const of = (key) => median(measured.slice(1).map((round) => round[key]));
    const rounded = (key) => (Number.isNaN(of(key)) ? "" : number(Math.round(of(key))));
    rows.push([store, rounded("perSecond"), rounded("cpuUs"), rounded("databaseCpuUs"), rounded("logBytes")]);
  }
}

async function created({ server }, count) {
  const before = await server.ask("figures");
  await server.ask("begin");
  const startedAt = performance.now();
  await server.ask("special", { name: "create", args: { count } });
  const seconds = (performance.now() - startedAt) / 1000;
  const { cpuUs, databaseCpuUs } = await server.ask("end", { count: 0, undrained: true });
  const after = await server.ask("figures");
  return {
    perSecond: count / seconds,
    cpuUs: cpuUs / count,
    databaseCpuUs: databaseCpuUs === undefined ? NaN : databaseCpuUs / count,
    logBytes: after === undefined ? NaN : (after.walBytes - before.walBytes) / count,
  };
}
