import { setImmediate as turn } from "node:timers/promises";
import { type SqlPaymentStore } from "tillkit/sql";
import { type Changes } from "../../../../src/store/contract.js";
import { type Driver } from "../../../../src/store/sql/driver/driver.js";
import { event, payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { type DatabaseProxy, proxyTo } from "./database-proxy.js";
import { type tablePrefixes } from "./table-prefixes.js";

/** A database whose store has a pipelined connection. */
export interface PipelineUnderTest {
  url: string;
  tables: ReturnType<typeof tablePrefixes>;
  /** A text that only the pipelined connection sends. */
  onlyPipelined: string;
  storeAt: (url: string, tablePrefix: string) => SqlPaymentStore;
  driverAt: (url: string, tablePrefix: string) => Driver<unknown>;
}

/** The store of a test, behind the proxy, with the pending payments p1, p2, p3 and p9. */
export interface PipelineTest {
  proxy: DatabaseProxy;
  store: SqlPaymentStore;
  tablePrefix: string;
  /** Records that a payment was completed, by a webhook. */
  record: (clientId: string, over?: Changes) => Promise<boolean>;
  /** Returns the changes that {@link record} saves. */
  about: (clientId: string, over?: Changes) => Changes;
  /** Records about p9 until the pipelined connection is used: on a busy machine it opens later than a group waits for it. */
  connect: () => Promise<void>;
  /** Returns the number of round trips of the pipelined connection. */
  trips: () => number;
}

/** Tests what holds for every pipelined connection. Returns a function that returns the store of the running test. */
export function pipelineSentences(under: PipelineUnderTest): () => PipelineTest {
  const { url, tables, onlyPipelined, storeAt, driverAt } = under;
  let test: PipelineTest;

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
    const trips = (): number => proxy.roundTrips(onlyPipelined);
    const connect = async (): Promise<void> => {
      await record("p9");
      const again = { updated: [], webhooks: [], copies: [{ eventKey: "k-p9", count: 1 }] };
      while (trips() === 0) await record("p9", again);
    };
    test = { proxy, store, tablePrefix, record, about, connect, trips };
  });
  afterEach(async () => {
    await test.store.close();
    test.proxy.close();
    await tables.dropAll();
  });

  it("records a webhook in two round trips", async () => {
    const { store, record, connect, trips } = test;
    await connect();
    const before = trips();
    await record("p2", { events: [event("e2", { clientId: "p2" })] });
    expect(trips() - before).toBe(2);
    expect(await store.find("p2")).toMatchObject({ state: "completed" });
    const kept = await store.history("p2");
    expect(kept).toMatchObject({ webhooks: [{ eventKey: "k-p2" }], events: [{ id: "e2" }] });
  });

  it("records a group of a hundred, each with its own values, in two round trips", async () => {
    const { store, connect, trips } = test;
    const ids = Array.from({ length: 100 }, (_, n) => `g${n}`);
    const created = ids.map((id) => payment(id, { reference: `order-${id}` }));
    await store.transaction((tx) => store.save(tx, { created }));
    await connect();
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

  it("commits nothing where a statement fails, although the commit was sent with it", async () => {
    const { store, record, connect, trips } = test;
    await connect();
    const events = [event("e1"), event("e1")];
    await expect(record("p1", { events })).rejects.toMatchObject({ code: "store_conflict" });
    expect(await store.find("p1")).toMatchObject({ state: "pending" });
    // The connection works as before.
    const before = trips();
    expect(await record("p1", { events: [event("e1")] })).toBe(true);
    expect(trips() - before).toBe(2);
  });

  it("rejects what was cut off after its commit was sent, and records the next one on another connection", async () => {
    const { proxy, store, record, about, connect } = test;
    await connect();
    proxy.cutAtCommit(onlyPipelined);
    await expect(record("p2")).rejects.toMatchObject({ code: "store_unavailable" });
    // Whether it was committed is unknown; recording it again does no harm.
    const again = store.record({ clientIds: ["p2"], eventKeys: ["k-p2"] }, ({ eventKeys }) =>
      eventKeys.length > 0 ? { copies: [{ eventKey: "k-p2", count: 1 }] } : about("p2"),
    );
    expect(await again).toBe(true);
    expect(await store.find("p2")).toMatchObject({ state: "completed" });
  });

  it("records on a plain connection while the pipelined one hangs", async () => {
    const { proxy, record, connect } = test;
    await connect();
    proxy.hang(onlyPipelined);
    const hanging = record("p1", { copies: [{ eventKey: "k-p1", count: 1 }], updated: [], webhooks: [] });
    hanging.catch(() => undefined);
    expect(await record("p2")).toBe(true);
    proxy.cut(onlyPipelined);
    await expect(hanging).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("records on a plain connection while the pipelined one cannot be opened, and does not wait for that", async () => {
    const { proxy, record } = test;
    proxy.ignoreNew();
    const startedAt = performance.now();
    expect(await record("p1")).toBe(true);
    expect(await record("p2")).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it("closes although the pipelined connection hangs", async () => {
    const { proxy, tablePrefix } = test;
    const opened = driverAt(proxy.url, tablePrefix);
    await opened.migrate();
    let pipelined = await opened.beginPipelined!();
    // On a busy machine, the connection opens later than a group waits for it. It cannot open without a turn of the event loop.
    for (; !pipelined; await turn()) pipelined = await opened.beginPipelined!();
    await pipelined.run("select 1", []);
    proxy.hang(onlyPipelined);
    const hanging = pipelined.run("select 1", []);
    hanging.catch(() => undefined);
    await opened.close();
    await expect(hanging).rejects.toBeInstanceOf(Error);
    await expect(pipelined.commit()).rejects.toBeInstanceOf(Error);
  });

  return () => test;
}
