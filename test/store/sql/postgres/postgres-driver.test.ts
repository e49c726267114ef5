import { EventEmitter } from "node:events";
import { resolveSqlStoreOptions } from "../../../../src/store/sql/options.js";
import { type PostgresPool } from "../../../../src/store/sql/postgres/pool.js";
import { PostgresDriver } from "../../../../src/store/sql/postgres/postgres-driver.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";

it("a client goes back to an application's pool without a listener of the kit, however it was used", async () => {
  const released: unknown[] = [];
  const client = Object.assign(new EventEmitter(), {
    query: async (sql: string) => ({ rows: [], rowCount: 0, command: sql.toUpperCase() }),
    release: (error?: Error) => void released.push(error),
  });
  const pool = { connect: async () => client } as unknown as PostgresPool;
  const driver = new PostgresDriver(pool, tablesUnder("shop_"), resolveSqlStoreOptions());
  await driver.query("select 1", []);
  for (const end of ["commit", "rollback"] as const) {
    const open = await driver.begin();
    expect(client.listenerCount("error")).toBe(1);
    await open[end]();
  }
  expect(released).toEqual([undefined, undefined, undefined]);
  expect(client.listenerCount("error")).toBe(0);
  await driver.close();
});
