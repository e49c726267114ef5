import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pino from "pino";
import { MemoryStore, type MemoryTx, storeOver, type StoredRecord, TillkitError } from "tillkit";
import { memoryAdapter, type MemoryTransaction } from "../store/over/memory-adapter.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { until } from "../webhook/spool/fixtures.js";

/** Lets each sync of a file's content wait for `goOn`. `hangs` resolves when the first one waits. */
async function hangingDisk(folder: string) {
  const handle = await open(path.join(folder, "any"), "w");
  await handle.close();
  let goOn!: () => void;
  const waiting = new Promise<void>((resolve) => (goOn = resolve));
  const datasync = jest.spyOn(Object.getPrototypeOf(handle) as FileHandle, "datasync");
  const hangs = new Promise<void>((resolve) => datasync.mockImplementation(() => (resolve(), waiting)));
  return { hangs, goOn };
}

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

it("a handler that runs when the kit closes is not aborted before it had time to end", async () => {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const payments = testKit<never, MemoryTx>({ store });
  const signals: AbortSignal[] = [];
  const running = new Promise<void>((isRunning) => {
    payments.onPaymentCompleted(async (_, { signal }) => {
      signals.push(signal);
      isRunning();
      await new Promise((resolve) => setTimeout(resolve, 50));
      signals.push(signal);
    });
  });
  await payments.start({ keepAlive: false });
  await payments.receiveWebhook(signed(completedBody()));
  await running;
  await payments.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
});

it("the store is closed after the sweep that runs has ended", async () => {
  const store = new MemoryStore();
  const order: string[] = [];
  const close = store.close.bind(store);
  store.close = () => (order.push("store closed"), close());
  let goOn!: () => void;
  const isAsked = new Promise<void>((asked) => {
    store.due = async () => {
      asked();
      await new Promise<void>((resolve) => (goOn = resolve));
      order.push("swept");
      return [];
    };
  });
  const payments = testKit<never, MemoryTx>({ store });
  const swept = payments.sweep();
  await isAsked;
  const closed = payments.close();
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
  goOn();
  await Promise.all([swept, closed]);
  expect(order).toEqual(["swept", "store closed"]);
});

it("close ends the lookup that runs", async () => {
  const store = new MemoryStore();
  const due = { serviceId: "s-1", nextLookupAt: "2020-01-01T00:00:00.000Z" };
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment(due)] }));
  let signal: AbortSignal | null | undefined;
  let isAsked!: () => void;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const fetch = (_: unknown, request?: RequestInit) => {
    signal = request?.signal;
    isAsked();
    return new Promise<never>(() => {});
  };
  const service = { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch };
  const payments = testKit<never, MemoryTx>({ store, service, lookup: { timeoutMs: 3_600_000 } });
  const swept = payments.sweep().catch(() => {});
  await asked;
  await payments.close();
  expect(signal?.aborted).toBe(true);
  await swept;
});

it("no timer of a kit keeps the process alive with keepAlive: false, and close ends each", async () => {
  const { results } = jest.spyOn(globalThis, "setInterval").mock;
  const ended = jest.spyOn(globalThis, "clearInterval");
  const store = Object.assign(new MemoryStore(), { durable: true });
  const keepRefused = path.join(directory, "refused");
  const spool = { directory: path.join(directory, "spool") };
  const payments = testKit<never, MemoryTx>({ store, spool, webhook: { keepRefused } });
  await payments.start({ keepAlive: false });
  await payments.start({ keepAlive: false });
  const timers = results.map(({ value }) => value as NodeJS.Timeout);
  // The sweep, the drain of the spool, the watch of the store, and the files of refused webhooks.
  expect(timers.map((timer) => timer.hasRef())).toEqual([false, false, false, false]);
  await payments.close();
  expect(ended.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(timers));
});

it("a start that waits for the store when the kit closes starts no watch of the store", async () => {
  const store = Object.assign(new MemoryStore(), { durable: true });
  let open!: () => void;
  store.migrate = () => new Promise<void>((resolve) => (open = resolve));
  const identify = jest.spyOn(store, "identify");
  const payments = testKit<never, MemoryTx>({ store, spool: false });
  const started = payments.start({ keepAlive: false });
  await payments.close();
  open();
  await started;
  expect(identify).not.toHaveBeenCalled();
});

it("a refused webhook is kept before the kit has closed, in the directory that the start made", async () => {
  const keepRefused = path.join(directory, "refused");
  const payments = testKit<never, MemoryTx>({ store: new MemoryStore(), webhook: { keepRefused } });
  await payments.start({ keepAlive: false });
  await until(() => existsSync(keepRefused));
  const { headers, rawBody } = signed(completedBody());
  const forged = { headers, rawBody: Buffer.from(`${rawBody.toString()} `) };
  await expect(payments.receiveWebhook(forged)).rejects.toMatchObject({ code: "signature_mismatch" });
  await payments.close();
  expect(readdirSync(keepRefused).filter((name) => name.endsWith(".http"))).toHaveLength(1);
});

it("close ends after 20 seconds although the store does not close", async () => {
  const store = new MemoryStore();
  store.close = () => new Promise(() => {});
  const payments = testKit<never, MemoryTx>({ store });
  jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] });
  try {
    let isClosed = false;
    const closed = payments.close().then(() => (isClosed = true));
    await jest.advanceTimersByTimeAsync(19_999);
    expect(isClosed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await closed;
  } finally {
    jest.useRealTimers();
    store.close = async () => {};
  }
});

it("a close joins the one that runs, and ends with it although the store does not close", async () => {
  const store = new MemoryStore();
  const close = jest.spyOn(store, "close").mockReturnValue(new Promise(() => {}));
  const payments = testKit<never, MemoryTx>({ store });
  jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] });
  try {
    const closed: string[] = [];
    void payments.close().then(() => closed.push("first"));
    await jest.advanceTimersByTimeAsync(19_000);
    void payments.close().then(() => closed.push("second"));
    await jest.advanceTimersByTimeAsync(1000);
    expect(closed).toEqual(["first", "second"]);
    expect(close).toHaveBeenCalledTimes(1);
  } finally {
    jest.useRealTimers();
    close.mockRestore();
  }
});

it("close ends after 20 seconds although a sync of the spool never ends, and logs what was left", async () => {
  const store = new MemoryStore();
  store.record = () => Promise.reject(new Error("The database is restarting."));
  const lines: string[] = [];
  const logger = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  const payments = testKit<never, MemoryTx>({ store, logger, spool: { directory } });
  const disk = await hangingDisk(directory);
  void payments.receiveWebhook(signed(completedBody())).catch(() => {});
  await disk.hangs;
  const close = jest.spyOn(store, "close");
  jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] });
  try {
    const closed = payments.close();
    await jest.advanceTimersByTimeAsync(19_999);
    expect(close).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    await closed;
  } finally {
    jest.useRealTimers();
    disk.goOn();
  }
  expect(close).toHaveBeenCalled();
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    pending: 1,
    msg: expect.stringContaining("1 webhooks got no answer") as unknown,
  });
});

it("close closes every part although others fail, and rejects with the first error", async () => {
  const stopWaking = jest.fn(() => undefined);
  stopWaking.mockImplementationOnce(() => {
    throw new Error("The subscription has ended.");
  });
  const failing = Object.assign(new MemoryStore(), {
    wake: () => stopWaking,
    close: jest.fn(async () => {}).mockRejectedValueOnce(new Error("The pool has ended.")),
    record: () => Promise.reject(new Error("The database is restarting.")),
  });
  const spool = { directory: path.join(directory, "spool") };
  const payments = testKit<never, MemoryTx>({ store: failing, spool });
  await payments.start({ keepAlive: false });
  const receive = () => payments.receiveWebhook(signed(completedBody()));
  expect(await receive()).toMatchObject({ outcome: "spooled" });
  await expect(payments.close()).rejects.toThrow("The subscription has ended.");
  expect(failing.close).toHaveBeenCalledTimes(1);
  // The spool is closed, too, so it keeps no webhook.
  await expect(receive()).rejects.toMatchObject({ code: "record_unavailable" });
});

it("close waits for its parts at the same time, over a store that answers nothing", async () => {
  const store = Object.assign(new MemoryStore(), { durable: true });
  const payments = testKit<never, MemoryTx>({ store, spool: false, lookup: true, dispatch: { pollMs: 1 } });
  payments.onPaymentCompleted(() => undefined);
  await payments.start({ keepAlive: false });
  await payments.receiveWebhook(signed(completedBody()));
  const asked = new Set<string>();
  let answer!: (nothing: never[]) => void;
  const answered = new Promise<never[]>((resolve) => (answer = resolve));
  for (const method of ["claim", "lookupDue", "identify", "close"] as const)
    jest.spyOn(store, method).mockImplementation(() => (asked.add(method), answered));
  void payments.sweep();
  await until(() => asked.has("claim") && asked.has("lookupDue"));
  jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] });
  try {
    let isClosed = false;
    void payments.close().then(() => (isClosed = true));
    // The limit of handlers, and then the limit of the store.
    await jest.advanceTimersByTimeAsync(12_000 + 20_000);
    expect([isClosed, asked.has("close")]).toEqual([true, true]);
  } finally {
    jest.useRealTimers();
    answer([]);
  }
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

describe("the registration of the handlers when the kit closes", () => {
  it("gives a forgotten handler the last events, also in a store over an adapter", async () => {
    const records = new Map<string, StoredRecord>();
    const startKit = async (handler: () => void) => {
      const store = storeOver(memoryAdapter(records));
      const payments = testKit<never, MemoryTransaction>({ store, dispatch: { pollMs: 20 } });
      payments.onPaymentCompleted(handler);
      await payments.start({ keepAlive: false });
      return { store, payments };
    };
    const runs: string[] = [];
    const first = await startKit(() => void runs.push("first"));
    await first.store.transaction((tx) => first.store.save(tx, { created: [pendingPayment()] }));
    records.delete("handlers");
    await first.payments.receiveWebhook(signed(completedBody()));
    await first.payments.close();
    const second = await startKit(() => void runs.push("second"));
    await until(() => runs.length > 0);
    await second.payments.close();
    expect(runs).toEqual(["second"]);
  });

  it("is only logged where it fails, and the store is closed", async () => {
    const store = new MemoryStore();
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const payments = testKit<never, MemoryTx>({ store, logger });
    payments.onPaymentCompleted(() => undefined);
    await payments.start({ keepAlive: false });
    const away = new TillkitError("store_unavailable", "The database is restarting.");
    jest.spyOn(store, "registerHandlers").mockRejectedValue(away);
    const close = jest.spyOn(store, "close");
    lines.length = 0;
    await payments.close();
    expect(close).toHaveBeenCalledTimes(1);
    await payments.close();
    expect(lines).toEqual([expect.stringContaining("the handlers could not be registered again")]);
  });
});
