// Memory of idle connections.
import { connect } from "node:net";
import { entrantOf, number, residentMiB } from "./tools.mjs";

export const title = "What is connected";
export const says =
  "Idle connections, beside 64 that send webhooks: memory of the process, and what a webhook costs meanwhile.";

export const heads = ["Idle connections", "MiB more", "KiB each", "CPU µs a webhook"];

const counts = [0, 1000, 10_000];

export const steps = () => counts.length;

export async function run({ load, tick, rows }) {
  for (const count of counts) {
    const entrant = entrantOf({ store: "memory", preShaped: true });
    await entrant.start();
    for (let n = 0; n < 4; n++) await sent(entrant, load);
    const before = residentMiB(entrant);
    const sockets = [];
    for (let n = 0; n < count; n++) sockets.push(await opened(entrant.port));
    const more = residentMiB(entrant) - before;
    const measured = [];
    for (let n = 0; n < 5; n++) measured.push(await sent(entrant, load));
    const cpu = measured.map(({ cpuUs }) => cpuUs).toSorted((a, b) => a - b)[2];
    const each = count === 0 ? "" : ((more * 1024) / count).toFixed(1);
    rows.push([number(count), more.toFixed(0), each, cpu.toFixed(0)]);
    for (const socket of sockets) socket.destroy();
    await entrant.stop();
    tick(`${number(count)} connections`);
  }
}

async function sent(entrant, load) {
  const first = entrant.next;
  entrant.next += 2000;
  await entrant.server.ask("prepare", { first, count: 2000 });
  return entrant.exchange(load, { first, count: 2000 });
}

function opened(port) {
  const socket = connect({ port, host: "127.0.0.1" });
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}
