import { readFileSync } from "node:fs";
import { Entrant } from "../harness/measure.mjs";

/** Enough memory for a million payments in the memory store. */
const largeHeap = ["--max-old-space-size=12000"];

export function entrantOf(options, { connections = 64, execArgv = largeHeap } = {}) {
  return new Entrant({ name: options.store, file: "../scale/shop.mjs", options }, connections, execArgv);
}

export const number = (n) => n.toLocaleString("en-US");

/** Stores payments in steps of 20,000. Throws {@link Late} when the time is over. */
export async function fill(entrant, { first, count, withOrders, tick, isLate }) {
  for (let from = first; from < first + count; from += 20_000) {
    if (isLate()) throw new Late(`There was no time to store ${number(count)} payments on ${entrant.name}.`);
    const size = Math.min(20_000, first + count - from);
    await entrant.server.ask("special", { name: "fill", args: { first: from, count: size, withOrders } });
    tick();
  }
  await entrant.server.ask("special", { name: "analyse" });
}

/** Thrown when the time of a part is over. What was measured until then is kept. */
export class Late extends Error {}

export function residentMiB({ server }) {
  const pages = Number(readFileSync(`/proc/${server.pid}/statm`, "latin1").split(" ")[1]);
  return (pages * 4096) / 2 ** 20;
}
