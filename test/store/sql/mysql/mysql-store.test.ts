import { createPool } from "mysql2";
import { mysqlStore } from "tillkit/sql";
import { ledger } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, withEvents } from "../../../../src/store/exam/checks/steps.js";
import { serverSentences } from "../support/server-sentences.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

if (url === undefined || url === "none") {
  console.info("The MySQL store is not examined: TILLKIT_TEST_MYSQL_URL names no server.");
  it("leaves the MySQL store out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const callbackPool = createPool({ uri: url, connectionLimit: 30 });
  const pool = callbackPool.promise();
  const { tablePrefix, table } = serverSentences({
    name: "MySQL",
    url,
    pool,
    otherPool: callbackPool,
    create: mysqlStore,
    first: "?",
    nowhere: "mysql://nobody@127.0.0.1:1/none",
  });

  it("runs at READ COMMITTED, and leaves the sessions of the application's pool unchanged", async () => {
    const single = createPool({ uri: url, connectionLimit: 1 }).promise();
    const store = mysqlStore(single, { tablePrefix });
    const isolation = "select @@session.transaction_isolation as level";
    const ids = `select id from ${table} where id = 'of another transaction'`;
    await store.transaction(async (tx) => {
      expect((await tx.query(ids)).rows).toEqual([]);
      await pool.query(`insert into ${table} (id) values ('of another transaction')`);
      expect((await tx.query(ids)).rows).toHaveLength(1);
    });
    const [rows] = await single
      .query(isolation)
      .catch(() => single.query("select @@session.tx_isolation as level"));
    expect(rows).toEqual([{ level: "REPEATABLE-READ" }]);
    await store.close();
    await single.end();
  });

  it("goes by UTC, whatever the time zone of the application's sessions is", async () => {
    const elsewhere = createPool({ uri: url, connectionLimit: 4 });
    elsewhere.on("connection", (connection) => connection.query("set time_zone = '+05:00'"));
    const other = mysqlStore(elsewhere, { tablePrefix });
    const store = mysqlStore(pool, { tablePrefix });
    await withEvents(store, [ledger], 1);
    expect(await claimed(store, [ledger])).toHaveLength(1);
    expect(await claimed(other, [ledger])).toEqual([]);
    await elsewhere.promise().end();
  });

  it("refuses an object as a value, which the driver would write as SQL", async () => {
    const store = mysqlStore(pool, { tablePrefix });
    const run = store.transaction((tx) => tx.query(`select * from ${table} where id = ?`, [{ id: 1 }]));
    await expect(run).rejects.toThrow(TypeError);
  });

  it.each([
    [0, 1],
    [1000, 1],
    [1001, 2],
  ])("waits with a busyTimeoutMs of %d for %d seconds", async (busyTimeoutMs, seconds) => {
    const store = mysqlStore(url, { tablePrefix, busyTimeoutMs });
    const { rows } = await store.query("select @@session.innodb_lock_wait_timeout as seconds");
    expect(rows).toEqual([{ seconds }]);
    await store.close();
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

  it("rejects with store_unavailable when the server refuses the connection", async () => {
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
