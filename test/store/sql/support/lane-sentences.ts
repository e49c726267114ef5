import { type SqlPaymentStore } from "tillkit/sql";
import { type Changes } from "../../../../src/store/payment-store.js";
import { type Driver } from "../../../../src/store/sql/driver.js";
import { event, payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { type DatabaseProxy, proxyTo } from "./database-proxy.js";
import { type tablePrefixes } from "./table-prefixes.js";

/** A database whose store has a connection that recording has to itself. */
export interface LaneUnderTest {
  url: string;
  tables: ReturnType<typeof tablePrefixes>;
  /** What only that connection sends. */
  laneOnly: string;
  storeAt: (url: string, tablePrefix: string) => SqlPaymentStore;
  driverAt: (url: string, tablePrefix: string) => Driver<unknown>;
}

/** What a test has: the store, behind the proxy, with the pending payments p1, p2, p3 and p9. */
export interface Lane {
  proxy: DatabaseProxy;
  store: SqlPaymentStore;
  tablePrefix: string;
  /** Records that a payment was completed, by a webhook. */
  record: (clientId: string, over?: Changes) => Promise<boolean>;
  /** What {@link record} records. */
  about: (clientId: string, over?: Changes) => Changes;
  /** Records about p9 until recording has its connection, which on a busy machine takes longer to open than a group waits for it. */
  begin: () => Promise<void>;
  /** How many round trips recording's own connection has made. */
  trips: () => number;
}

/** The sentences that hold for every such connection. Answers what the test that runs has. */
export function laneSentences(under: LaneUnderTest): () => Lane {
  const { url, tables, laneOnly, storeAt, driverAt } = under;
  let lane: Lane;

  beforeEach(async () => {
    const proxy = await proxyTo(url);
    const tablePrefix = tables.next();
    const store = storeAt(proxy.url, tablePrefix);
    const others = [payment("p3", { reference: "order-3" }), payment("p9")];
    const created = [payment("p1"), payment("p2"), ...others];
    await store.transaction((tx) => store.save(tx, { created }));
    const about = (id: string, over: Changes = {}): Changes => ({
      updated: [payment(id, { state: "completed", open: false })],
      webhooks: [webhook(`k-${id}`, { clientId: id })],
      ...over,
    });
    const record = (id: string, over?: Changes): Promise<boolean> =>
      store.record({ clientIds: [id], eventKeys: [`k-${id}`] }, () => about(id, over));
    const trips = (): number => proxy.turns(laneOnly);
    const begin = async (): Promise<void> => {
      await record("p9");
      const again = { updated: [], webhooks: [], copies: [{ eventKey: "k-p9", count: 1 }] };
      while (trips() === 0) await record("p9", again);
    };
    lane = { proxy, store, tablePrefix, record, about, begin, trips };
  });
  afterEach(async () => {
    await lane.store.close();
    lane.proxy.close();
    await tables.dropAll();
  });

  it("records a webhook in two round trips", async () => {
    const { store, record, begin, trips } = lane;
    await begin();
    const before = trips();
    await record("p2", { events: [event("e2", { clientId: "p2" })] });
    expect(trips() - before).toBe(2);
    expect(await store.find("p2")).toMatchObject({ state: "completed" });
    const kept = await store.history("p2");
    expect(kept).toMatchObject({ webhooks: [{ eventKey: "k-p2" }], events: [{ id: "e2" }] });
  });

  it("records a group of a hundred, each with its own values, in two round trips", async () => {
    const { store, begin, trips } = lane;
    const ids = Array.from({ length: 100 }, (_, n) => `g${n}`);
    const created = ids.map((id) => payment(id, { reference: `order-${id}` }));
    await store.transaction((tx) => store.save(tx, { created }));
    await begin();
    const before = trips();
    const isRecorded = await store.record({ clientIds: ids }, ({ payments }) => ({
      updated: payments.map((found) => ({
        ...found,
        state: "failed",
        open: false,
        failure: found.clientId,
      })),
      webhooks: payments.map(({ clientId }) => webhook(`k-${clientId}`, { clientId })),
      events: payments.map(({ clientId }) => event(`e-${clientId}`, { clientId })),
    }));
    expect(isRecorded).toBe(true);
    expect(trips() - before).toBe(2);
    for (const id of ["g0", "g49", "g50", "g99"]) {
      const pending = payment(id, { reference: `order-${id}` });
      expect(await store.find(id)).toEqual({ ...pending, state: "failed", open: false, failure: id });
      expect(await store.history(id)).toMatchObject({
        webhooks: [{ eventKey: `k-${id}` }],
        events: [{ id: `e-${id}` }],
      });
    }
  });

  it("commits nothing where a statement fails, although the commit was sent behind it", async () => {
    const { store, record, begin, trips } = lane;
    await begin();
    const events = [event("e1"), event("e1")];
    await expect(record("p1", { events })).rejects.toMatchObject({ code: "store_conflict" });
    expect(await store.find("p1")).toMatchObject({ state: "pending" });
    // And the connection is as good as before.
    const before = trips();
    expect(await record("p1", { events: [event("e1")] })).toBe(true);
    expect(trips() - before).toBe(2);
  });

  it("rejects what was cut off behind its commit, and records the next one on another connection", async () => {
    const { proxy, store, record, about, begin } = lane;
    await begin();
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
    const { proxy, record, begin } = lane;
    await begin();
    proxy.hang(laneOnly);
    const hanging = record("p1", { copies: [{ eventKey: "k-p1", count: 1 }], updated: [], webhooks: [] });
    hanging.catch(() => undefined);
    expect(await record("p2")).toBe(true);
    proxy.cut(laneOnly);
    await expect(hanging).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("takes the ordinary way while its connection cannot be opened, and does not wait for that", async () => {
    const { proxy, record } = lane;
    proxy.ignoreNew();
    const startedAt = performance.now();
    expect(await record("p1")).toBe(true);
    expect(await record("p2")).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it("closes although its connection hangs", async () => {
    const { proxy, tablePrefix } = lane;
    const opened = driverAt(proxy.url, tablePrefix);
    await opened.migrate();
    const ahead = await opened.beginAhead!();
    await ahead!.run("select 1", []);
    proxy.hang(laneOnly);
    const hanging = ahead!.run("select 1", []);
    hanging.catch(() => undefined);
    await opened.close();
    await expect(hanging).rejects.toBeInstanceOf(Error);
    await expect(ahead!.commit()).rejects.toBeInstanceOf(Error);
  });

  return () => lane;
}
