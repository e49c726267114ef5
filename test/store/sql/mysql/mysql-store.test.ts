import { createPool } from "mysql2";
import { mysqlStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { startUpSentences } from "../support/start-up-sentences.js";
import { tablePrefixes } from "../support/table-prefixes.js";
import { transactionSentences } from "../support/transaction-sentences.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

if (url === undefined || url === "none") {
  console.info("The MySQL store is not examined: TILLKIT_TEST_MYSQL_URL names no server.");
  it("leaves the MySQL store out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  // Each test makes its tables anew, on a server that may be busy.
  jest.setTimeout(30_000);
  const callbackPool = createPool({ uri: url, connectionLimit: 30 });
  const pool = callbackPool.promise();
  const tables = tablePrefixes((sql) => pool.query(sql));
  const prefixes = new WeakMap<object, string>();

  const tablePrefix = tables.next();
  const table = `${tablePrefix}orders`;

  afterAll(async () => {
    await pool.query(`drop table if exists ${table}`);
    await tables.dropAll();
    await pool.end();
  });

  // Some things are sent in fewer round trips where the pool is the kit's own.
  const pools = [
    ["MySQL with the application's pool", pool, url],
    ["MySQL with a pool of its own", url, pool],
  ] as const;
  for (const [name, source, again] of pools)
    testStore({
      name,
      create: async () => {
        const tablePrefix = tables.next();
        const store = mysqlStore(source, { tablePrefix });
        prefixes.set(store, tablePrefix);
        return store;
      },
      reopen: async (store) => mysqlStore(again, { tablePrefix: prefixes.get(store)! }),
      remove: (store) => tables.drop(prefixes.get(store)!),
      test: it,
    });

  transactionSentences({ create: () => mysqlStore(callbackPool, { tablePrefix }), first: "?", table });

  const empty = tables.next();
  startUpSentences(() => mysqlStore(url, { tablePrefix: empty }), `${empty}meta`);

  it("runs at READ COMMITTED, and leaves the sessions of the application's pool as they were", async () => {
    const single = createPool({ uri: url, connectionLimit: 1 }).promise();
    const store = mysqlStore(single, { tablePrefix });
    const isolation = "select @@session.transaction_isolation as level";
    await store.transaction(async (tx) => {
      await tx.query("select 1 as one");
    });
    const [rows] = await single
      .query(isolation)
      .catch(() => single.query("select @@session.tx_isolation as level"));
    expect(rows).toEqual([{ level: "REPEATABLE-READ" }]);
    await store.close();
    await single.end();
  });

  it("refuses an object as a value, which the driver would write out as SQL", async () => {
    const store = mysqlStore(pool, { tablePrefix });
    const run = store.transaction((tx) => tx.query(`select * from ${table} where id = ?`, [{ id: 1 }]));
    await expect(run).rejects.toThrow(TypeError);
  });

  it("gives up on a lock at the deadline", async () => {
    const holding = mysqlStore(pool, { tablePrefix });
    const waiting = mysqlStore(url, { tablePrefix, busyTimeoutMs: 1000 });
    await holding.transaction(async (tx) => {
      await holding.save(tx, {
        webhooks: [
          {
            receiptId: "r1",
            eventKey: "k1",
            outcome: "applied",
            covers: "body",
            rawBody: Buffer.from("{}"),
            receivedAt: "2024-05-01T10:00:00.000Z",
          },
        ],
      });
      const run = waiting.transaction((other) =>
        other.query(`select * from ${tablePrefix}webhooks where event_key = 'k1' for update`),
      );
      await expect(run).rejects.toMatchObject({ errno: 1205 });
      const counted = waiting.transaction((other) =>
        waiting.save(other, { copies: [{ eventKey: "k1", count: 1 }] }),
      );
      await expect(counted).rejects.toMatchObject({ code: "store_busy" });
    });
    await waiting.close();
  });

  it("says that the database cannot be reached", async () => {
    const store = mysqlStore("mysql://nobody@127.0.0.1:1/none");
    await expect(store.find("p1")).rejects.toMatchObject({ code: "store_unavailable" });
    await store.close();
  });

  it("says that the store is away when the server lets nobody in", async () => {
    const elsewhere = new URL(url);
    elsewhere.pathname = "/no_such_database";
    const refused = mysqlStore(elsewhere.href);
    await expect(refused.find("p1")).rejects.toMatchObject({
      code: "store_unavailable",
      cause: { errno: 1049 },
    });
    await refused.close();
  });

  it("refuses an address of another database", () => {
    expect(() => mysqlStore("postgres://localhost/shop")).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
  });
}
