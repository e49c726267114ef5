import { Pool } from "pg";
import { postgresStore, type SqlPaymentStore } from "tillkit/sql";
import { type Changes } from "../../../src/store/payment-store.js";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";
import { PostgresDriver } from "../../../src/store/sql/postgres/postgres-driver.js";
import { tablesUnder } from "../../../src/store/sql/tables/names.js";
import { event, payment, webhook } from "../../../src/testing/exam/fixtures.js";
import { type DatabaseProxy, proxyTo } from "./support/database-proxy.js";
import { tablePrefixes } from "./support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves the recording lane out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

/** Only the connection that recording has to itself sends this. */
const laneOnly = "plan_cache_mode";

function examine(url: string): void {
  const pool = new Pool({ connectionString: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterAll(() => pool.end());

  let proxy: DatabaseProxy;
  let store: SqlPaymentStore;
  let tablePrefix: string;
  beforeEach(async () => {
    proxy = await proxyTo(url);
    tablePrefix = tables.next();
    store = postgresStore(proxy.url, { tablePrefix });
    await store.transaction((tx) => store.save(tx, { created: [payment("p1"), payment("p2")] }));
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
    await record("p2");
    expect(proxy.turns(laneOnly) - before).toBe(2);
    expect(await store.find("p2")).toMatchObject({ state: "completed" });
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

  it("takes the ordinary way while its connection cannot be opened, and does not wait for that", async () => {
    proxy.ignoreNew();
    const startedAt = performance.now();
    expect(await record("p1")).toBe(true);
    expect(await record("p2")).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it("closes although its connection hangs", async () => {
    const opened = new PostgresDriver(proxy.url, tablesUnder(tablePrefix), resolveSqlStoreOptions());
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

  it("writes nothing where the begin failed, although the locks were sent behind it", async () => {
    await record("p1");
    proxy.spoil("begin isolation", "begun isolation");
    await expect(record("p2")).rejects.toMatchObject({ code: "42601" });
    expect(await store.find("p2")).toMatchObject({ state: "pending" });
    proxy.spoil("", "");
    expect(await record("p2")).toBe(true);
  });

  it("commits nothing of a statement that failed, although the commit was sent behind it", async () => {
    const events = [event("e1"), event("e1")];
    await expect(record("p1", { events })).rejects.toMatchObject({ code: "store_conflict" });
    expect(await store.find("p1")).toMatchObject({ state: "pending" });
    // And the connection is as good as before.
    expect(await record("p1", { events: [event("e1")] })).toBe(true);
  });

  it("has no connection of its own where statements are not to be prepared", async () => {
    const plain = postgresStore(proxy.url, { tablePrefix, preparedStatements: false });
    expect(await plain.record({ clientIds: ["p1"] }, () => about("p1"))).toBe(true);
    await plain.close();
    expect(proxy.turns(laneOnly)).toBe(0);
  });
}
