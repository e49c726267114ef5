import { randomBytes } from "node:crypto";
import { createPool } from "mysql2/promise";
import * as tillkit from "tillkit";
import { mysqlAdapter } from "../../examples/stores/mysql.js";
import { serverUrl } from "../promises/processes/databases.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { create } from "./modules/mysql.js";
import { storeTests } from "./support/store-tests.js";

if (serverUrl("mysql") === undefined)
  it("leaves the tests of a store in MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () =>
    expect(serverUrl("mysql")).toBeUndefined());
else {
  storeTests({ name: "a store in MySQL", module: "mysql.ts", refuses: true });
  describe("a transaction of a store in MySQL", () => {
    testTransactions();
  });
}

function testTransactions(): void {
  const openNew = async () => {
    const prefix = `t${randomBytes(6).toString("hex")}_`;
    const opened = await create({ folder: "", prefix }, tillkit);
    await opened.prepare!();
    return opened;
  };
  afterEach(closeAll);

  it("commits a handler whose lease was renewed after its first statement", async () => {
    const { store, write, rows, remove } = await openNew();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    let hasRenewed!: () => void;
    const renewed = new Promise<void>((resolve) => (hasRenewed = resolve));
    const renew = store.renew.bind(store);
    jest.spyOn(store, "renew").mockImplementation((...of) => renew(...of).finally(hasRenewed));
    const payments = testKit({ store, spool: false, dispatch: { pollMs: 5, leaseMs: 3000 } });
    const ended = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(async ({ id, payment: { clientId, reference } }, { tx, attempt }) => {
        await tx.query("select * from ledger");
        await renewed;
        await write(tx, { client_id: clientId, reference, event_id: id, idempotency_key: "", attempt });
        resolve();
      });
    });
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    await ended;
    await payments.close(); // It waits for the commit.
    expect(await rows()).toEqual([expect.objectContaining({ attempt: 1 })]);
    await remove!();
  });

  it("rejects with store_unavailable where its connection is lost", async () => {
    const { store, remove } = await openNew();
    const lost = store.transaction(async (tx) => {
      const [[row]] = (await tx.query("select connection_id() as id")) as unknown as [[{ id: number }]];
      await store.transaction((other) => other.query("kill ?", [row.id]));
      await tx.query("select 1");
    });
    await expect(lost).rejects.toMatchObject({ code: "store_unavailable" });
    await store.close();
    await remove!();
  });

  it("commits nothing after a failed statement, also where its error is swallowed", async () => {
    const { store, write, rows, remove } = await openNew();
    const row = { client_id: "c-1", reference: "", event_id: "", idempotency_key: "", attempt: 1 };
    const swallowed = store.transaction(async (tx) => {
      await write(tx, row);
      await tx.query("select * from missing").catch(() => undefined);
      await Promise.allSettled([write(tx, row)]);
    });
    await expect(swallowed).rejects.toThrow(/missing.* doesn't exist/);
    expect(await rows()).toEqual([]);
    await store.close();
    await remove!();
  });

  it("reads all records also where the session limits the rows of a select", async () => {
    const pool = createPool({ uri: serverUrl("mysql")!, database: "mysql" });
    pool.pool.on("connection", (connection) => {
      connection.query("set session sql_select_limit = 1");
      connection.query("create temporary table payment_records (id varbinary(500), version int, value text)");
      connection.query("insert into payment_records values ('a', 1, ''), ('b', 1, '')");
    });
    const adapter = mysqlAdapter(pool as never);
    const found = await adapter.read(["a", "b"]);
    await adapter.close!();
    expect(found).toHaveLength(2);
  });

  it.each([
    "sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "autocommit = 0",
    "transaction isolation level read uncommitted",
  ])("refuses a later connection of the pool that has set session %s", async (setting) => {
    const pool = createPool({ uri: serverUrl("mysql")!, connectionLimit: 2 });
    let opened = 0;
    pool.pool.on("connection", (connection) => {
      if (++opened === 2) connection.query(`set session ${setting}`);
    });
    const adapter = mysqlAdapter(pool as never);
    await adapter.migrate!();
    // Each call needs the second connection, which the call before must have given back.
    const codes = await adapter.transaction(async () => {
      const calls = [() => adapter.read(["\\' or 1 = 1 -- "]), () => adapter.transaction(async () => {})];
      const found: unknown[] = [];
      for (const call of calls) found.push(await call().catch((error: tillkit.TillkitError) => error.code));
      return found;
    });
    await adapter.close!();
    expect(codes).toEqual(["option_invalid", "option_invalid"]);
  });
}
