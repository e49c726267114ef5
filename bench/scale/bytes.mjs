// What a webhook writes to the disk: bytes of the database's log, and bytes that stay.
import { Entrant } from "../harness/measure.mjs";
import { number } from "./tools.mjs";

export const title = "What is written";
export const says =
  "Bytes per webhook; its payment was stored before. *log*: what goes through the database's log, which is synced and sent to " +
  "replicas (PostgreSQL: WAL; MySQL: the redo log; SQLite: all that the process writes, log and pages). *stays*: growth of tables and " +
  "indexes, including the payment and the order. PostgreSQL counts its whole server, so nothing else may write there.";

export const heads = ["Store", "", "log bytes", "stays bytes", "of it before the webhook", "webhooks"];

const names = { sqlite: "SQLite", postgres: "PostgreSQL", mysql: "MySQL" };
export const steps = ({ stores }) => stores.length * 4;

export async function run({ stores, webhooks, load, tick, rows }) {
  for (const store of stores.filter((one) => one in names)) {
    const kit = (name, options, connections = 64) => ({
      name: `tillkit, ${name}`,
      connections,
      file: "tillkit.mjs",
      options: { store, preShaped: true, ...options },
    });
    const contenders = [
      { name: "by hand", connections: 64, file: `naive-${store}.mjs` },
      kit("held back", {}),
      kit("held back, one connection", {}, 1),
      kit("one handler", { handler: true }),
    ];
    for (const contender of contenders) {
      rows.push([names[store], contender.name, ...(await measured(contender, webhooks, load))]);
      tick(`${store}: ${contender.name}`);
    }
  }
}

async function measured({ connections, ...contender }, webhooks, load) {
  const entrant = new Entrant(contender, connections);
  const count = connections === 1 || contender.options?.handler ? webhooks / 4 : webhooks;
  try {
    await entrant.start();
    const figures = () => entrant.server.ask("figures");
    const before = await figures();
    await entrant.server.ask("prepare", { first: 1, count });
    const prepared = await figures();
    await entrant.exchange(load, { first: 1, count });
    const after = await figures();
    return [
      number(Math.round((after.walBytes - prepared.walBytes) / count)),
      number(Math.round((after.sizeBytes - before.sizeBytes) / count)),
      number(Math.round((prepared.sizeBytes - before.sizeBytes) / count)),
      number(count),
    ];
  } finally {
    await entrant.stop();
  }
}
