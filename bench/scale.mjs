// `node bench/scale.mjs [stored|connections|backlog]…`: how a webhook's cost and the memory grow with what is stored, connected
// and waiting. Takes several minutes; writes nothing.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Child } from "./harness/child.mjs";
import { Entrant } from "./harness/measure.mjs";
import { usePostgres } from "./harness/postgres-server.mjs";
import { median } from "./harness/statistics.mjs";

const asked = process.argv.slice(2);
const isAsked = (part) => asked.length === 0 || asked.includes(part);
const load = new Child("load.mjs");
const postgres = await usePostgres();
const entrantOf = (options) => new Entrant({ name: options.store, file: "tillkit.mjs", options }, 64);

if (isAsked("stored")) {
  console.log("stored      server CPU µs   webhooks/s   p50 ms   database CPU µs");
  for (const store of ["sqlite", "postgres"]) {
    for (const stored of [1000, 100_000, 1_000_000]) await costWith(store, stored);
  }
}
if (isAsked("connections")) {
  for (const connections of [1000, 10_000]) await memoryWith(connections);
}
if (isAsked("backlog")) {
  for (const store of ["sqlite", "postgres"]) await memoryBehind(store, 100_000);
}
load.end();
await postgres?.stop();
process.exit();

/** The same number of webhooks, about payments that lie scattered among those stored. */
async function costWith(store, stored) {
  const entrant = entrantOf({ store, preShaped: true });
  await entrant.start();
  // Code is compiled with payments that count among those stored.
  const spare = Math.min(stored, 4000);
  await fill(entrant, 1, stored + spare);
  const rounds = [];
  // A thousand payments last for one round only; further ones are about the spare ones.
  const counts = stored === 1000 ? [1000] : [2000, 2000, 2000];
  await entrant.exchange(load, { count: spare, first: stored + 1 });
  let first = 0;
  for (const count of counts) {
    rounds.push(await entrant.exchange(load, { count, first, among: stored }));
    first += count;
  }
  const of = (key) => median(rounds.map((round) => round[key]));
  console.log(
    `${store.padEnd(9)} ${String(stored).padStart(9)} ${of("cpuUs").toFixed(0).padStart(6)} ` +
      `${of("perSecond").toFixed(0).padStart(8)} ${of("p50Ms").toFixed(2).padStart(8)} ` +
      `${rounds[0].databaseCpuUs === undefined ? "" : of("databaseCpuUs").toFixed(0).padStart(6)}`,
  );
  await entrant.stop();
}

async function fill(entrant, first, count) {
  for (let from = first; from < first + count; from += 20_000)
    await entrant.server.ask("prepare", { first: from, count: Math.min(20_000, first + count - from) });
}

/** Open connections that say nothing. */
async function memoryWith(connections) {
  const entrant = entrantOf({ store: "memory" });
  await entrant.start();
  await entrant.round(load, 1, { warmup: true });
  const before = residentMiB(entrant);
  const sockets = [];
  for (let n = 0; n < connections; n++) {
    const socket = connect({ port: entrant.port, host: "127.0.0.1" });
    await new Promise((resolve, reject) => void socket.once("connect", resolve).once("error", reject));
    sockets.push(socket);
  }
  const more = residentMiB(entrant) - before;
  console.log(
    `${connections} idle connections: ${more.toFixed(0)} MiB more, ${((more * 1024) / connections).toFixed(1)} KiB each`,
  );
  for (const socket of sockets) socket.destroy();
  await entrant.stop();
}

/** Events that wait for their dispatch. */
async function memoryBehind(store, events) {
  const entrant = entrantOf({ store });
  await entrant.start();
  await entrant.round(load, 1, { warmup: true });
  const before = residentMiB(entrant);
  for (let sent = 0; sent < events; sent += 10_000) {
    await fill(entrant, 1_000_000 + sent, 10_000);
    await entrant.exchange(load, { count: 10_000, first: 1_000_000 + sent });
  }
  await pause(1000);
  console.log(
    `${store}: ${events} undispatched events: ${(residentMiB(entrant) - before).toFixed(0)} MiB more`,
  );
  await entrant.stop();
}

function residentMiB({ server }) {
  const pages = Number(readFileSync(`/proc/${server.pid}/statm`, "latin1").split(" ")[1]);
  return (pages * 4096) / 2 ** 20;
}
