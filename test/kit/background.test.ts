import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MemoryStore, type MemoryTx, TillkitError } from "tillkit";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { until } from "../webhook/spool/fixtures.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "tillkit-background-"));
});
afterEach(async () => {
  await closeAll();
  jest.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

it("spooled webhooks are recorded also where the store was away at the start", async () => {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const away = new TillkitError("store_unavailable", "The database is restarting.");
  const kit = () => testKit<never, MemoryTx>({ store, spool: { directory }, dispatch: { pollMs: 20 } });

  const record = jest.spyOn(store, "record").mockRejectedValue(away);
  const before = kit();
  expect(await before.receiveWebhook(signed(completedBody()))).toMatchObject({ outcome: "spooled" });
  // The next process opens the same store.
  jest.spyOn(store, "close").mockResolvedValue();
  await before.close();
  expect(await store.find("c-1")).toMatchObject({ state: "pending" });
  record.mockRestore();

  jest.spyOn(store, "registerHandlers").mockRejectedValueOnce(away);
  const payments = kit();
  payments.onPaymentCompleted(() => undefined);
  await expect(payments.start({ keepAlive: false })).rejects.toBe(away);
  await until(async () => (await store.find("c-1"))?.state === "completed");
});

it("the store is closed after the last webhook has its answer", async () => {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const order: string[] = [];
  const close = store.close.bind(store);
  store.close = () => (order.push("store closed"), close());
  const record = store.record.bind(store);
  let goOn!: () => void;
  const isAsked = new Promise<void>((asked) => {
    store.record = async (...given) => {
      asked();
      await new Promise<void>((resolve) => (goOn = resolve));
      const isRecorded = await record(...given);
      order.push("recorded");
      return isRecorded;
    };
  });
  const payments = testKit<never, MemoryTx>({ store });
  const receipt = payments.receiveWebhook(signed(completedBody()));
  await isAsked;
  const closed = payments.close();
  // Everything that does not wait for the webhook has its time.
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
  goOn();
  expect(await receipt).toMatchObject({ outcome: "applied" });
  await closed;
  expect(order).toEqual(["recorded", "store closed"]);
});

it("the store is closed after the last handler has ended", async () => {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const order: string[] = [];
  const close = store.close.bind(store);
  store.close = () => (order.push("store closed"), close());
  const payments = testKit<never, MemoryTx>({ store });
  let goOn!: () => void;
  const isRunning = new Promise<void>((running) => {
    payments.onPaymentCompleted(async () => {
      running();
      await new Promise<void>((resolve) => (goOn = resolve));
      order.push("handler ended");
    });
  });
  await payments.start({ keepAlive: false });
  await payments.receiveWebhook(signed(completedBody()));
  await isRunning;
  const closed = payments.close();
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
  goOn();
  await closed;
  expect(order).toEqual(["handler ended", "store closed"]);
});

describe("after the start", () => {
  /** So long that no test waits for a poll. */
  const dispatch = { pollMs: 3_600_000 };

  it("the store is swept without a call", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const now = () => new Date("2026-11-20T10:00:00.000Z");
    const payments = testKit<never, MemoryTx>({ store, dispatch, now, sweepMs: 1, overdueMs: 1 });
    const raised = new Promise<string>((resolve) =>
      payments.on("payment.overdue", ({ payment }) => resolve(payment.clientId)),
    );
    await payments.start({ keepAlive: false });
    expect(await raised).toBe("c-1");
  });

  it("a sweep that fails is repeated", async () => {
    const store = new MemoryStore();
    const due = jest.spyOn(store, "due").mockRejectedValue(new Error("The database is restarting."));
    await testKit<never, MemoryTx>({ store, dispatch, sweepMs: 1 }).start({ keepAlive: false });
    await until(() => due.mock.calls.length > 2);
    expect(due.mock.calls.length).toBeGreaterThan(2);
  });

  it.each<[string, { keepAlive?: boolean } | undefined, boolean]>([
    ["lives by default", undefined, true],
    ["lives with keepAlive: true", { keepAlive: true }, true],
    ["may end with keepAlive: false", { keepAlive: false }, false],
  ])("the process %s", async (_, options, lives) => {
    const store = new MemoryStore();
    const claimed = new Promise<void>((resolve) => {
      store.claim = async () => (resolve(), []);
    });
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    payments.onPaymentCompleted(() => undefined);
    const { calls, results } = jest.spyOn(globalThis, "setTimeout").mock;
    await payments.start(options);
    await claimed;
    // The dispatcher waits for its next poll now.
    for (let round = 0; round < 5; round++) await new Promise(setImmediate);
    const poll = calls.findIndex(([, ms]) => ms === dispatch.pollMs);
    expect((results[poll]!.value as NodeJS.Timeout).hasRef()).toBe(lives);
  });

  it("handlers are not called with dispatch: false, and the store is swept nevertheless", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const claim = jest.spyOn(store, "claim");
    const due = jest.spyOn(store, "due");
    const payments = testKit<never, MemoryTx>({ store, dispatch: false, sweepMs: 1 });
    payments.onPaymentCompleted(() => undefined, { name: "ledger" });
    await payments.start({ keepAlive: true });
    await payments.receiveWebhook(signed(completedBody()));
    await until(() => due.mock.calls.length > 2);
    expect(claim).not.toHaveBeenCalled();
    const { dispatches } = await store.history("c-1");
    expect(dispatches).toMatchObject([{ handler: "ledger", state: "pending" }]);
  });
});

it.each(["due", "identify"] as const)("close ends although the store never answers %s", async (method) => {
  const store = new MemoryStore();
  const durable = Object.assign(store, { durable: true });
  const asked = new Promise<void>((resolve) => {
    jest.spyOn(durable, method).mockImplementation(() => (resolve(), new Promise(() => {})) as never);
  });
  const spool = { directory: path.join(directory, "spool") };
  const close = jest.spyOn(store, "close");
  const webhook = { recordTimeoutMs: 100 };
  const payments = testKit<never, MemoryTx>({ store: durable, spool, webhook, sweepMs: 1 });
  void payments.start({ keepAlive: false });
  await asked;
  await payments.close();
  expect(close).toHaveBeenCalled();
});
