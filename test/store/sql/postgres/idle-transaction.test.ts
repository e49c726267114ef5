import { once } from "node:events";
import { Pool } from "pg";
import { postgresStore } from "tillkit/sql";
import { type Purpose } from "../../../../src/store/sql/driver/driver.js";
import { resolveSqlStoreOptions } from "../../../../src/store/sql/options.js";
import { PostgresDriver } from "../../../../src/store/sql/postgres/postgres-driver.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { serverUrl } from "../../../promises/processes/databases.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = serverUrl("postgres");

describe("a transaction that PostgreSQL ends because it is idle", () => {
  if (url === undefined) {
    it("is left out, because no server is named", () => expect(url).toBeUndefined());
    return;
  }

  it("names the setting, also where the handler goes on with another statement", async () => {
    const options = "-c idle_in_transaction_session_timeout=100";
    const pool = new Pool({ connectionString: url, options });
    pool.on("error", () => undefined);
    const tables = tablePrefixes((sql) => pool.query(sql));
    const store = postgresStore(pool, { tablePrefix: tables.next() });
    const idling = store.transaction(async (tx) => {
      await tx.query("select 1");
      await once((await tx.raw) as never, "end");
      await tx.query("select 1");
    });
    await expect(idling).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("idle_in_transaction_session_timeout"),
    });
    await store.close();
    await tables.dropAll();
    await pool.end();
  });

  it("is one of the kit, and never one of the application, which may pause between its statements", async () => {
    const driver = new PostgresDriver(url, tablesUnder("idle_"), resolveSqlStoreOptions());
    const limitOf = async (purpose?: Purpose): Promise<unknown> => {
      const open = await driver.begin(purpose);
      const { rows } = await open.query("show idle_in_transaction_session_timeout", []);
      await open.rollback();
      return Object.values(rows[0]!)[0];
    };
    const { rows } = await driver.query("show idle_in_transaction_session_timeout", []);
    const ofServer: unknown = Object.values(rows[0]!)[0];
    expect([await limitOf(), await limitOf("handler")]).toEqual([ofServer, ofServer]);
    // Twice the time after which the kit cuts a connection off.
    for (const purpose of ["record", "claim", "upkeep"] as const) expect(await limitOf(purpose)).toBe("8s");
    await driver.close();
  });

  it("leaves the settings of the session as they were, also after a commit", async () => {
    const pool = new Pool({ connectionString: url, max: 1 });
    const driver = new PostgresDriver(pool, tablesUnder("idle_"), resolveSqlStoreOptions());
    const settings = ["lock_timeout", "array_nulls", "idle_in_transaction_session_timeout"];
    const current = async () =>
      (await pool.query(`select ${settings.map((name) => `current_setting('${name}') as ${name}`).join()}`))
        .rows as unknown[];
    const before = await current();
    for (const purpose of [undefined, "handler", "record", "claim", "upkeep"] as const) {
      const open = await driver.begin(purpose);
      await open.query("select 1", []);
      await open.commit();
      expect(await current()).toEqual(before);
    }
    await driver.close();
    await pool.end();
  });
});
