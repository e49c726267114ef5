import { type Changes, type Health, MemoryStore, type MemoryTx, type Saved } from "tillkit";
import { checkHealth } from "../../src/operations/health.js";
import { type Keeping } from "../../src/webhook/recording/webhook-keeper.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

afterEach(closeAll);

const asked = {
  spool: undefined,
  recorder: { isStuck: () => false },
  now: () => new Date("2026-11-20T10:05:00.000Z"),
  timeoutMs: 50,
  lateMs: 60_000,
  rejections: () => ({ byCode: {}, throttled: 0 }),
  foreign: () => 0,
  keeper: { keeping: {} as Keeping, retryRefused: async () => {} },
  clock: { look: () => ({ lastMs: 0, sumMs: 0 }) },
  unopened: () => undefined,
  runs: () => true,
  hanging: () => 0,
  sweepFailure: () => undefined,
  wentBack: () => undefined,
  silence: () => undefined,
  mismatches: () => ({ count: 0, spanMs: 0 }),
  unmatchedAfterMs: 900_000,
  spoolingDownAfterMs: 1000,
};

const codesOf = ({ reasons }: Health) => reasons.map(({ code }) => code);

describe("health", () => {
  it("is ok when the store answers and nothing waits", async () => {
    expect(await testKit().health()).toEqual({
      status: "ok",
      reasons: [],
      store: { reachable: true, stuck: false, warnings: [] },
      counts: { dead: 0, parked: 0 },
      rejections: { byCode: {}, throttled: 0 },
      foreign: 0,
    });
  });

  it("is down when the store does not answer in time and there is no spool", async () => {
    const store = new MemoryStore();
    store.find = () => new Promise(() => {});
    expect(await checkHealth({ ...asked, store })).toEqual({
      status: "down",
      reasons: [{ code: "store_unreachable", message: "The store does not answer." }],
      store: { reachable: false, stuck: false, warnings: [] },
      rejections: { byCode: {}, throttled: 0 },
      foreign: 0,
    });
  });

  it("is checked once for all calls that arrive during a check", async () => {
    const store = new MemoryStore();
    const payments = testKit({ store });
    let answer!: () => void;
    const found = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
    const find = jest.spyOn(store, "find").mockReturnValue(found);
    const checks = Array.from({ length: 20 }, () => payments.health());
    expect(find).toHaveBeenCalledTimes(1);
    answer();
    expect(new Set(await Promise.all(checks)).size).toBe(1);
    await payments.health();
    expect(find).toHaveBeenCalledTimes(2);
  });

  it("is degraded, and not down, when the store answers but does not count in time what waits", async () => {
    const store = new MemoryStore();
    store.counts = () => new Promise(() => {});
    expect(await checkHealth({ ...asked, store })).toEqual({
      status: "degraded",
      reasons: [{ code: "store_slow", message: "The store answers, but does not count in time what waits." }],
      store: { reachable: true, stuck: false, warnings: [] },
      rejections: { byCode: {}, throttled: 0 },
      foreign: 0,
    });
    store.counts = () => Promise.reject(new Error("no such table"));
    expect(await checkHealth({ ...asked, store })).toMatchObject({
      status: "down",
      reasons: [{ code: "store_unreachable" }],
    });
  });

  it("is degraded while the spool takes webhooks for an unavailable store", async () => {
    const store = new MemoryStore();
    store.find = () => Promise.reject(new Error("connection refused"));
    const spool = { stats: async () => ({ records: 2, bytes: 900, setAside: 0 }) };
    expect(await checkHealth({ ...asked, store, spool })).toMatchObject({
      status: "degraded",
      spool: { records: 2 },
    });
  });

  it("tells of a spool whose disk does not answer in time, and is down while the store is away too", async () => {
    const spool = { stats: () => new Promise<never>(() => {}) };
    const health = await checkHealth({ ...asked, store: new MemoryStore(), spool });
    const message = "The spool's disk did not answer within 50 ms.";
    expect(health).toMatchObject({ status: "degraded", reasons: [{ code: "spool_unavailable", message }] });
    const store = new MemoryStore();
    store.find = () => Promise.reject(new Error("away"));
    expect(await checkHealth({ ...asked, store, spool })).toMatchObject({ status: "down" });
  });

  it("is down when commits hang although the store answers, and degraded where a spool takes the webhooks", async () => {
    const stuck = { ...asked, store: new MemoryStore(), recorder: { isStuck: () => true } };
    expect(await checkHealth(stuck)).toMatchObject({
      status: "down",
      store: { reachable: true, stuck: true },
    });
    const spool = { stats: async () => ({ records: 0, bytes: 0, setAside: 0 }) };
    expect(await checkHealth({ ...stuck, spool })).toMatchObject({ status: "degraded" });
  });

  it("is degraded by a durability warning", async () => {
    const store = Object.assign(new MemoryStore(), { warnings: async () => ["synchronous_commit is off"] });
    expect(await checkHealth({ ...asked, store })).toMatchObject({
      status: "degraded",
      store: { warnings: ["synchronous_commit is off"] },
    });
  });

  it("is degraded by an event that waits too long for its handler, and by a dead dispatch", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const web = testKit<never, MemoryTx>({
      store,
      dispatch: { maxFailures: 1, pollMs: 5 },
      now: () => new Date("2026-11-20T10:00:00.000Z"),
    });
    web.onPaymentCompleted(() => {
      throw new Error("broken");
    });
    await store.registerHandlers([{ event: "payment.completed", name: "payment.completed" }]);
    await web.receiveWebhook(signed(completedBody()));
    expect(await checkHealth({ ...asked, store })).toMatchObject({
      status: "degraded",
      counts: { oldestUndoneAt: "2026-11-20T10:00:00.000Z" },
    });

    const dead = new Promise((resolve) => web.on("dispatch.dead", resolve));
    await web.start({ keepAlive: false });
    await dead;
    expect(await checkHealth({ ...asked, store })).toMatchObject({ status: "degraded", counts: { dead: 1 } });
  });

  it("is degraded, not down, by one webhook that an available store refuses, until another one is recorded", async () => {
    let refuses = true;
    class Refusing extends MemoryStore {
      override save(tx: MemoryTx, changes: Changes): Promise<Saved> {
        return refuses && changes.webhooks?.length
          ? Promise.reject(new Error("this row is too much for the table"))
          : super.save(tx, changes);
      }
    }
    const payments = testKit<never, MemoryTx>({ store: new Refusing() });
    await expect(payments.receiveWebhook(signed(completedBody()))).rejects.toMatchObject({
      code: "record_unavailable",
    });
    const health = await payments.health();
    expect([health.status, ...codesOf(health)]).toEqual(["degraded", "webhook_not_recordable"]);
    refuses = false;
    await payments.receiveWebhook(signed(completedBody({ clientId: "c-2" })));
    expect(await payments.health()).toMatchObject({ status: "ok", reasons: [] });
  });

  it("is down while a refused webhook is refused again because no commit ends, and keeps its promise not to reject", async () => {
    const store = new MemoryStore();
    const keeping: Keeping = { failingSince: 0, refused: "store" };
    const retryRefused = () => new Promise<void>(() => {});
    const health = await checkHealth({ ...asked, store, keeper: { keeping, retryRefused } });
    expect([health.status, ...codesOf(health)]).toEqual(["down", "webhooks_refused"]);
  });

  it("does not start another write while one hangs, and is ok again when it ends", async () => {
    const ends: (() => void)[] = [];
    class Hanging extends MemoryStore {
      override async transaction<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
        await new Promise<void>((resolve) => ends.push(resolve));
        return super.transaction(run);
      }
    }
    const store = new Hanging();
    for (let times = 0; times < 3; times++)
      expect(codesOf(await checkHealth({ ...asked, store }))).toEqual(["store_not_writable"]);
    expect(ends).toHaveLength(1);
    const health = checkHealth({ ...asked, store, timeoutMs: 10_000 });
    ends[0]!();
    expect(await health).toMatchObject({ status: "ok" });
  });
});
