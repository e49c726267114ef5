import { setImmediate as turn } from "node:timers/promises";
import { createPool } from "mysql2/promise";
import { mysqlStore, type SqlPaymentStore } from "tillkit/sql";
import { type Changes } from "../../../src/store/payment-store.js";
import { MysqlDriver } from "../../../src/store/sql/mysql/mysql-driver.js";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";
import { tablesUnder } from "../../../src/store/sql/tables/names.js";
import { event, payment, webhook } from "../../../src/testing/exam/fixtures.js";
import { type DatabaseProxy, proxyTo } from "./support/database-proxy.js";
import { tablePrefixes } from "./support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

if (url === undefined || url === "none") {
  console.info("Recording on MySQL is not examined: TILLKIT_TEST_MYSQL_URL names no server.");
  it("leaves the recording lane out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
} else examine(url);

/** Only the connection that recording has to itself sends this. */
const laneOnly = "start transaction; ";

function examine(url: string): void {
  // Each test makes its tables anew, on a server that may be busy.
  jest.setTimeout(30_000);
  const pool = createPool({ uri: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterAll(() => pool.end());

  let proxy: DatabaseProxy;
  let store: SqlPaymentStore;
  let tablePrefix: string;
  beforeEach(async () => {
    proxy = await proxyTo(url);
    tablePrefix = tables.next();
    store = mysqlStore(proxy.url, { tablePrefix });
    const created = [payment("p1"), payment("p2"), payment("p3", { reference: "order-3" })];
    await store.transaction((tx) => store.save(tx, { created }));
  });
  afterEach(async () => {
    await store.close();
    proxy.close();
    await tables.dropAll();
  });

  const about = (id: string, over: Changes = {}): Changes => ({
    updated: [payment(id, { state: "completed", open: false })],
    webhooks: [webhook(`k-${id}`)],
    ...over,
  });
  const record = (id: string, over?: Changes): Promise<boolean> =>
    store.record({ clientIds: [id], eventKeys: [`k-${id}`] }, () => about(id, over));

  it("records a webhook in two round trips", async () => {
    await record("p1");
    const before = proxy.turns(laneOnly);
    await record("p2", {
      webhooks: [webhook("k-p2", { clientId: "p2" })],
      events: [event("e2", { clientId: "p2" })],
    });
    expect(proxy.turns(laneOnly) - before).toBe(2);
    expect(await store.find("p2")).toMatchObject({ state: "completed" });
    const kept = await store.history("p2");
    expect(kept).toMatchObject({ webhooks: [{ eventKey: "k-p2" }], events: [{ id: "e2" }] });
  });

  it("records a group of a hundred, each with its own values, in two round trips", async () => {
    const ids = Array.from({ length: 100 }, (_, n) => `g${n}`);
    const created = ids.map((id) => payment(id, { reference: `order-${id}` }));
    await store.transaction((tx) => store.save(tx, { created }));
    await record("p1");
    const before = proxy.turns(laneOnly);
    const isRecorded = await store.record({ clientIds: ids }, ({ payments }) => ({
      updated: payments.map((found) => ({ ...found, state: "failed", open: false, failure: found.clientId })),
      webhooks: payments.map(({ clientId }) => webhook(`k-${clientId}`, { clientId })),
      events: payments.map(({ clientId }) => event(`e-${clientId}`, { clientId })),
    }));
    expect(isRecorded).toBe(true);
    expect(proxy.turns(laneOnly) - before).toBe(2);
    for (const id of ["g0", "g49", "g50", "g99"]) {
      expect(await store.find(id)).toEqual({
        ...payment(id, { reference: `order-${id}` }),
        state: "failed",
        open: false,
        failure: id,
      });
      expect(await store.history(id)).toMatchObject({
        webhooks: [{ eventKey: `k-${id}` }],
        events: [{ id: `e-${id}` }],
      });
    }
  });

  it("locks the other attempts of a payment too, which it learns of behind the first locks", async () => {
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

  it("holds no lock while it waits for one of an earlier clientId, so that nobody waits for it there", async () => {
    const earlier = payment("p0", { reference: "order-3", open: false, state: "failed" });
    await store.transaction((tx) => store.save(tx, { created: [earlier] }));
    await record("p1");
    const before = proxy.turns(laneOnly);
    const lock = `select client_id from ${tablePrefix}payments where client_id = ? for update`;
    const recording = await store.transaction(async (tx) => {
      await tx.query(lock, ["p0"]);
      const waiting = record("p3");
      waiting.catch(() => undefined);
      while (proxy.turns(laneOnly) - before < 2) await turn();
      await tx.query(lock, ["p3"]);
      return [waiting];
    });
    expect(await Promise.all(recording)).toEqual([true]);
  });

  it("finds a payment by its service id alone", async () => {
    const bound = payment("p4", { reference: "order-4", serviceId: "s4" });
    await store.transaction((tx) => store.save(tx, { created: [bound] }));
    let found: unknown;
    await store.record({ clientIds: ["unknown"], serviceIds: ["s4"] }, ({ payments }) => {
      found = payments;
      return { webhooks: [webhook("k-4")] };
    });
    expect(found).toEqual([bound]);
  });

  it("counts a copy, and says that a webhook is taken, with nothing of its group committed", async () => {
    expect(await record("p1")).toBe(true);
    const again = store.record({ clientIds: ["p1"], eventKeys: ["k-p1"] }, ({ eventKeys }) => ({
      copies: eventKeys.map((eventKey) => ({ eventKey, count: 2 })),
    }));
    expect(await again).toBe(true);
    // As if another process had recorded it behind the look.
    const raised = [event("e2", { clientId: "p2" })];
    const fresh = [webhook("k-new"), webhook("k-p1")];
    expect(await record("p2", { webhooks: fresh, events: raised })).toBe(false);
    expect(await store.find("p2")).toMatchObject({ state: "pending" });
    expect((await store.history("p2")).events).toEqual([]);
    expect(await record("p2", { webhooks: [webhook("k-new")] })).toBe(true);
  });

  it("commits nothing where a statement fails, although the commit was sent with it", async () => {
    const events = [event("e1"), event("e1")];
    await expect(record("p1", { events })).rejects.toMatchObject({ code: "store_conflict" });
    expect(await store.find("p1")).toMatchObject({ state: "pending" });
    // And the connection is as good as before.
    const before = proxy.turns(laneOnly);
    expect(await record("p1", { events: [event("e1")] })).toBe(true);
    expect(proxy.turns(laneOnly) - before).toBe(2);
  });

  it("commits nothing where deciding fails, and has let the locks go", async () => {
    const failing = store.record({ clientIds: ["p1"] }, () => {
      throw new Error("undecided");
    });
    await expect(failing).rejects.toThrow("undecided");
    await store.transaction((tx) => store.lock(tx, { clientIds: ["p1"] }));
    expect(await record("p1")).toBe(true);
  });

  it("gives up on a lock at the deadline, and records when it is free", async () => {
    const hasty = mysqlStore(url, { tablePrefix, busyTimeoutMs: 1000 });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1"] });
      const waiting = hasty.record({ clientIds: ["p1"] }, () => about("p1"));
      await expect(waiting).rejects.toMatchObject({ code: "store_busy" });
    });
    expect(await hasty.record({ clientIds: ["p1"] }, () => about("p1"))).toBe(true);
    await hasty.close();
  });

  it("rejects what was cut off behind its commit, and records the next one on another connection", async () => {
    await record("p1");
    proxy.cutAtCommit(laneOnly);
    await expect(record("p2")).rejects.toMatchObject({ code: "store_unavailable" });
    // Whether it was committed is unknown; recording it again does no harm.
    const again = store.record({ clientIds: ["p2"], eventKeys: ["k-p2"] }, ({ eventKeys }) =>
      eventKeys.length > 0 ? { copies: [{ eventKey: "k-p2", count: 1 }] } : about("p2"),
    );
    expect(await again).toBe(true);
    expect(await store.find("p2")).toMatchObject({ state: "completed" });
  });

  it("takes the ordinary way while its connection hangs", async () => {
    await record("p1");
    proxy.hang(laneOnly);
    const hanging = record("p1", { copies: [{ eventKey: "k-p1", count: 1 }], updated: [], webhooks: [] });
    hanging.catch(() => undefined);
    expect(await record("p2")).toBe(true);
    proxy.cut(laneOnly);
    await expect(hanging).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("closes although its connection hangs", async () => {
    const opened = new MysqlDriver(proxy.url, tablesUnder(tablePrefix), resolveSqlStoreOptions());
    await opened.migrate();
    const ahead = await opened.beginAhead();
    await ahead!.run("select 1", []);
    proxy.hang(laneOnly);
    const hanging = ahead!.run("select 1", []);
    hanging.catch(() => undefined);
    await opened.close();
    await expect(hanging).rejects.toBeInstanceOf(Error);
    await expect(ahead!.commit()).rejects.toBeInstanceOf(Error);
  });

  it.each([
    ["refuses the others", "select 1 as one; ", "select 1 as one~ "],
    ["does not see the others", "; select 2 as two", " -- lect 2 as two"],
  ])("takes the ordinary way for good where something in between %s", async (_, statements, by) => {
    proxy.spoil(statements, by);
    expect(await record("p1")).toBe(true);
    proxy.spoil("", "");
    expect(await record("p2")).toBe(true);
    expect(await store.find("p1")).toMatchObject({ state: "completed" });
    expect(proxy.turns(laneOnly)).toBe(0);
  });

  it("takes the ordinary way while its connection cannot be opened, and does not wait for that", async () => {
    proxy.ignoreNew();
    const startedAt = performance.now();
    expect(await record("p1")).toBe(true);
    expect(await record("p2")).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await store.close();
  });

  it("lets no statement of the application bring a second one along", async () => {
    await record("p1");
    const run = store.transaction((tx) => tx.query("select 1; select 2"));
    await expect(run).rejects.toMatchObject({ errno: 1064 });
  });

  it("has no connection of its own beside the application's pool", async () => {
    const other = createPool({ uri: proxy.url });
    const plain = mysqlStore(other, { tablePrefix });
    expect(await plain.record({ clientIds: ["p1"] }, () => about("p1"))).toBe(true);
    await plain.close();
    await other.end();
    expect(proxy.turns(laneOnly)).toBe(0);
  });
}
