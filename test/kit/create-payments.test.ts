import { Writable } from "node:stream";
import { pino } from "pino";
import { MemoryStore, type MemoryTx } from "tillkit";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

afterEach(closeAll);
afterEach(() => jest.restoreAllMocks());

/** So long that no test waits for a poll. */
const dispatch = { pollMs: 3_600_000 };

async function paidStore() {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  return store;
}

describe("a kit", () => {
  it("logs at the start what the store warns of, once", async () => {
    const warnings = jest
      .fn()
      .mockRejectedValueOnce(new Error("the database is busy"))
      .mockResolvedValueOnce(["The commits are not durable."]);
    const store = Object.assign(new MemoryStore(), { warnings });
    const lines: { option?: string; code?: string; msg: string }[] = [];
    const logger = pino(
      new Writable({ write: (line: Buffer, _, done) => (lines.push(JSON.parse(line.toString())), done()) }),
    );
    const payments = testKit<never, MemoryTx>({ store, dispatch, logger });
    await expect(payments.sweep()).rejects.toThrow("the database is busy");
    await payments.start({ keepAlive: false });
    const about = lines.filter(({ option }) => option === "store");
    expect(about.map(({ code, msg }) => [code, msg])).toEqual([[undefined, "The commits are not durable."]]);
  });

  it("calls a handler for a webhook without waiting for a poll", async () => {
    const payments = testKit<never, MemoryTx>({ store: await paidStore(), dispatch });
    const handled = new Promise<string>((resolve) =>
      payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId)),
    );
    await payments.start({ keepAlive: false });
    // The first poll of an empty store is over.
    await payments.health();
    await new Promise(setImmediate);
    await payments.receiveWebhook(signed(completedBody()));
    expect(await handled).toBe("c-1");
  });

  it("calls a handler for a webhook that another process announced", async () => {
    const store = await paidStore();
    let announce!: () => void;
    Object.assign(store, { wake: (listener: () => void) => ((announce = listener), () => {}) });
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    const handled = new Promise<string>((resolve) =>
      payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId)),
    );
    await payments.start({ keepAlive: false });
    const other = testKit<never, MemoryTx>({ store, dispatch: false });
    await other.receiveWebhook(signed(completedBody()));
    announce();
    expect(await handled).toBe("c-1");
  });

  it("calls a handler that is added after the start for an earlier event, without waiting for a poll", async () => {
    const store = await paidStore();
    const earlier = testKit<never, MemoryTx>({ store, dispatch: false });
    earlier.onPaymentCompleted(() => {}, { name: "ledger" });
    await earlier.receiveWebhook(signed(completedBody()));
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    await payments.start({ keepAlive: false });
    // The first poll, which finds no handler, is over.
    await payments.health();
    await new Promise(setImmediate);
    const handled = new Promise<string>((resolve) =>
      payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId), { name: "ledger" }),
    );
    expect(await handled).toBe("c-1");
  });

  it("registers handlers that are added after the start, before it records the next webhook", async () => {
    const store = await paidStore();
    const register = jest.spyOn(store, "registerHandlers");
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    payments.onPaymentCompleted(() => {}, { name: "early" });
    await payments.start({ keepAlive: false });
    const late = new Promise<void>((resolve) =>
      payments.onPaymentCompleted(() => resolve(), { name: "late" }),
    );
    await payments.receiveWebhook(signed(completedBody()));
    await late;
    expect(register.mock.calls.map(([keys]) => keys.map(({ name }) => name))).toEqual([
      ["early"],
      ["early", "late"],
    ]);
  });

  it("registers also a handler that is added while the store registers others", async () => {
    const store = await paidStore();
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    const registerHandlers = store.registerHandlers.bind(store);
    jest.spyOn(store, "registerHandlers").mockImplementationOnce(async (handlers) => {
      payments.onPaymentCompleted(() => {}, { name: "late" });
      await registerHandlers(handlers);
    });
    payments.onPaymentCompleted(() => {}, { name: "early" });
    await payments.receiveWebhook(signed(completedBody()));
    const { dispatches } = await store.history("c-1");
    expect(dispatches.map(({ handler }) => handler)).toEqual(["early", "late"]);
  });

  describe("whose machine's clock is put forward", () => {
    const dayMs = 24 * 3_600_000;
    /** A kit with one open payment. */
    async function kitWith(lookup: boolean) {
      const clock = { aheadMs: 0 };
      const { now: nowMs } = Date;
      jest.spyOn(Date, "now").mockImplementation(() => nowMs() + clock.aheadMs);
      const now = () => new Date(Date.now());
      const createdAt = new Date(Date.now() - 1000).toISOString();
      const store = new MemoryStore();
      const created = [pendingPayment({ createdAt, nextLookupAt: createdAt })];
      await store.transaction((tx) => store.save(tx, { created }));
      const fetch = () => Promise.reject(new Error("The service cannot be reached."));
      const service = { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch };
      return { payments: testKit<never, MemoryTx>({ store, dispatch, now, service, lookup }), clock };
    }

    it("raises no payment as overdue because of that", async () => {
      const { payments, clock } = await kitWith(false);
      clock.aheadMs = 2 * dayMs;
      expect(await payments.sweep()).toMatchObject({ overdue: 0 });
      expect(await payments.find("c-1")).not.toHaveProperty("overdueAt");
    });

    it("does not give up to ask about a payment because of that", async () => {
      const { payments, clock } = await kitWith(true);
      clock.aheadMs = 4 * dayMs;
      expect(await payments.sweep()).toMatchObject({ lookups: 1 });
      expect(await payments.find("c-1")).toHaveProperty("nextLookupAt");
    });
  });

  it("does nothing at a start after it was closed", async () => {
    const store = await paidStore();
    const wake = jest.fn(() => () => {});
    Object.assign(store, { wake });
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    await payments.close();
    await payments.start({ keepAlive: true });
    expect(wake).not.toHaveBeenCalled();
  });

  it("stops listening to other processes when it closes", async () => {
    const store = await paidStore();
    const stop = jest.fn();
    const wake = jest.fn(() => stop);
    Object.assign(store, { wake });
    const payments = testKit<never, MemoryTx>({ store, dispatch });
    await payments.start({ keepAlive: false });
    await payments.start({ keepAlive: false });
    expect(wake).toHaveBeenCalledTimes(1);
    await payments.close();
    expect(stop).toHaveBeenCalledTimes(1);
  });
});
