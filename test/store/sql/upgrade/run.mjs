import { createRequire } from "node:module";
import path from "node:path";
import { makeDatabase } from "./databases.mjs";
import { fill, oldTables, readSums } from "./tables.mjs";

const require = createRequire(import.meta.url);

/**
 * Fills tables of version 1 with payments, backs them up, upgrades them, restores the backup and upgrades that. Returns the seconds
 * of each step, and what was wrong.
 */
export async function upgrade({ kit, kind, url, payments, say }) {
  const { sqlStore, schemaState } = require(path.join(kit, "store/sql/index.js"));
  const database = await makeDatabase(kind, url);
  const stores = [];
  const seconds = {};
  const problems = [];
  const open = (address) => stores[stores.push(sqlStore(address)) - 1];
  const timed = async (name, work) => {
    say(name);
    const start = performance.now();
    const result = await work();
    seconds[name] = Number(((performance.now() - start) / 1000).toFixed(1));
    return result;
  };
  const expectSame = (what, actual, expected) => {
    const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (is !== should) problems.push(`${what}: ${is} instead of ${should}`);
  };
  const versionOf = async (address) => (await schemaState(address)).version;
  const upgraded = async (name, address, before) => {
    const store = open(address);
    await timed(name, () => store.migrate());
    const { newest } = await schemaState(address);
    expectSame(`version after ${name}`, await versionOf(address), newest);
    expectSame(`rows after ${name}`, await readSums(store), before);
    const { length } = await store.list({ state: "pending", newestFirst: true, limit: 100 });
    expectSame(`open payments after ${name}`, length, Math.min(100, Math.ceil(payments / 100)));
    await store.close();
    return newest;
  };
  try {
    const old = open(database.address);
    await oldTables(kit, kind, old);
    await timed("fill", () => fill(kind, old, payments));
    const before = await readSums(old);
    expectSame("payments", before.payments.count, payments);
    await old.close();

    const source = open(database.address);
    await timed("backup", () => database.backUp(source));
    await source.close();
    expectSame("version after backup", await versionOf(database.address), 1);
    const newest = await upgraded("upgrade", database.address, before);
    const restored = await timed("restore", () => database.restore());
    expectSame("version after restore", await versionOf(restored), 1);
    await upgraded("upgrade of the restored tables", restored, before);
    return { kind, payments, newest, seconds, problems };
  } finally {
    for (const store of stores) await store.close();
    await database.remove();
  }
}
