import { once } from "node:events";
import { type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { createPool } from "mysql2/promise";
import { mysqlStore } from "tillkit/sql";
import { MysqlDriver } from "../../../../../src/store/sql/mysql/mysql-driver.js";
import { MysqlPipeline } from "../../../../../src/store/sql/mysql/pipeline/mysql-pipeline.js";
import { type MysqlPool, physical } from "../../../../../src/store/sql/mysql/pool.js";
import { resolveSqlStoreOptions } from "../../../../../src/store/sql/options.js";
import { tablesUnder } from "../../../../../src/store/sql/tables/names.js";
import { event, payment, webhook } from "../../../../../src/store/exam/checks/fixtures.js";
import { type DatabaseProxy, proxyTo } from "../../support/database-proxy.js";
import { pipelineSentences } from "../../support/pipeline-sentences.js";
import { tablePrefixes } from "../../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

if (url === undefined || url === "none") {
  console.info("Recording on MySQL is not examined: TILLKIT_TEST_MYSQL_URL names no server.");
  it("leaves the pipelined connection out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const pool = createPool({ uri: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterAll(() => pool.end());

  const test = pipelineSentences({
    url,
    tables,
    onlyPipelined: "start transaction; ",
    storeAt: (at, tablePrefix) => mysqlStore(at, { tablePrefix }),
    driverAt: (at, prefix) => new MysqlDriver(at, tablesUnder(prefix), resolveSqlStoreOptions()),
  });

  it("locks the other attempts of a payment too, which it finds after the first locks", async () => {
    const { store, about } = test();
    const earlier = payment("p0", { reference: "order-3", open: false, state: "failed" });
    await store.transaction((tx) => store.save(tx, { created: [earlier] }));
    const seen: string[][] = [];
    const isRecorded = await store.record({ clientIds: ["p3"], eventKeys: ["k-p3"] }, ({ payments }) => {
      seen.push(payments.map(({ clientId }) => clientId));
      return about("p3", { updated: [{ ...payments.at(-1)!, state: "completed", open: false }] });
    });
    expect([isRecorded, seen]).toEqual([true, [["p0", "p3"]]]);
    expect(await store.find("p3")).toMatchObject({ state: "completed" });
  });

  it("holds no lock while it waits for one of an earlier clientId, so that it blocks no other transaction", async () => {
    const { store, tablePrefix, record, connect, trips } = test();
    const earlier = payment("p0", { reference: "order-3", open: false, state: "failed" });
    await store.transaction((tx) => store.save(tx, { created: [earlier] }));
    await connect();
    const before = trips();
    const lock = `select client_id from ${tablePrefix}payments where client_id = ? for update`;
    const recording = await store.transaction(async (tx) => {
      await tx.query(lock, ["p0"]);
      const waiting = record("p3");
      waiting.catch(() => undefined);
      while (trips() - before < 2) await turn();
      await tx.query(lock, ["p3"]);
      return [waiting];
    });
    expect(await Promise.all(recording)).toEqual([true]);
  });

  it("finds a payment by its service id alone", async () => {
    const { store } = test();
    const bound = payment("p4", { reference: "order-4", serviceId: "s4" });
    await store.transaction((tx) => store.save(tx, { created: [bound] }));
    let found: unknown;
    await store.record({ clientIds: ["unknown"], serviceIds: ["s4"] }, ({ payments }) => {
      found = payments;
      return { webhooks: [webhook("k-4")] };
    });
    expect(found).toEqual([bound]);
  });

  it("counts a copy, and resolves false when a webhook is taken, with nothing of its group committed", async () => {
    const { store, record } = test();
    expect(await record("p1")).toBe(true);
    const again = store.record({ clientIds: ["p1"], eventKeys: ["k-p1"] }, ({ eventKeys }) => ({
      copies: eventKeys.map((eventKey) => ({ eventKey, count: 2 })),
    }));
    expect(await again).toBe(true);
    // As if another process had recorded it after the check.
    const raised = [event("e2", { clientId: "p2" })];
    const fresh = [webhook("k-new"), webhook("k-p1")];
    expect(await record("p2", { webhooks: fresh, events: raised })).toBe(false);
    expect(await store.find("p2")).toMatchObject({ state: "pending" });
    expect((await store.history("p2")).events).toEqual([]);
    expect(await record("p2", { webhooks: [webhook("k-new")] })).toBe(true);
  });

  it("commits nothing where deciding fails, and releases the locks", async () => {
    const { store, record } = test();
    const failing = store.record({ clientIds: ["p1"] }, () => {
      throw new Error("undecided");
    });
    await expect(failing).rejects.toThrow("undecided");
    await store.transaction((tx) => store.lock(tx, { clientIds: ["p1"] }));
    expect(await record("p1")).toBe(true);
  });

  it("gives up on a lock at the deadline, and records when it is free", async () => {
    const { store, tablePrefix, about } = test();
    const hasty = mysqlStore(url, { tablePrefix, busyTimeoutMs: 1000 });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1"] });
      const waiting = hasty.record({ clientIds: ["p1"] }, () => about("p1"));
      await expect(waiting).rejects.toMatchObject({ code: "store_busy" });
    });
    expect(await hasty.record({ clientIds: ["p1"] }, () => about("p1"))).toBe(true);
    await hasty.close();
  });

  it.each([
    ["refuses several statements", "select 1 as one; ", "select 1 as one~ "],
    ["runs only the first statement", "; select 2 as two", " -- lect 2 as two"],
  ])("uses plain connections from then on where something in between %s", async (_, statements, by) => {
    const { proxy, store, record, trips } = test();
    proxy.replace(statements, by);
    expect(await record("p1")).toBe(true);
    proxy.replace("", "");
    expect(await record("p2")).toBe(true);
    expect(await store.find("p1")).toMatchObject({ state: "completed" });
    expect(trips()).toBe(0);
  });

  describe.each([
    ["its two statements in one text", "select 2 as two", "do sleep(99999)"],
    ["its question for several writers", "variable_name = 'wsrep_on'", "0 = sleep(99999)          "],
  ])("where there is no answer to %s", (_, statements, by) => {
    let proxy: DatabaseProxy;
    let pipeline: MysqlPipeline;
    const connect = jest.fn((pool: MysqlPool) => pool.getConnection());

    beforeEach(async () => {
      connect.mockClear();
      proxy = await proxyTo(url);
      proxy.replace(statements, by);
      pipeline = new MysqlPipeline(proxy.url, connect);
      jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
      const taking = pipeline.take();
      while (proxy.roundTrips(statements) === 0) await turn();
      jest.advanceTimersByTime(100);
      expect(await taking).toBeUndefined();
    });
    afterEach(() => {
      jest.useRealTimers();
      proxy.close();
    });

    it("is tried again five seconds after the connection was cut off", async () => {
      const first = await (connect.mock.results[0]!.value as ReturnType<MysqlPool["getConnection"]>);
      const cut = once(physical(first).stream as Socket, "close");
      const takeAfter = async (ms: number): Promise<void> => {
        jest.advanceTimersByTime(ms);
        void pipeline.take();
        // What was read so far passes through a few promises.
        for (let n = 0; n < 20; n++) await turn();
      };
      await takeAfter(2900);
      await cut.catch(() => undefined); // The reason that it was cut off.
      await takeAfter(0);
      await takeAfter(4900);
      expect(connect).toHaveBeenCalledTimes(1);
      await takeAfter(200);
      expect(connect).toHaveBeenCalledTimes(2);
    });

    it("closes, and the connection is cut off", async () => {
      const closing = pipeline.close();
      await turn();
      jest.advanceTimersByTime(3000);
      expect(await closing).toBeUndefined();
    });
  });

  it("runs no second statement in a text of the application", async () => {
    const { store, record } = test();
    await record("p1");
    const run = store.transaction((tx) => tx.query("select 1; select 2"));
    await expect(run).rejects.toMatchObject({ errno: 1064 });
  });

  it("has no pipelined connection beside the application's pool", async () => {
    const { proxy, tablePrefix, about, trips } = test();
    const other = createPool({ uri: proxy.url });
    const plain = mysqlStore(other, { tablePrefix });
    expect(await plain.record({ clientIds: ["p1"] }, () => about("p1"))).toBe(true);
    await plain.close();
    await other.end();
    expect(trips()).toBe(0);
  });
}
