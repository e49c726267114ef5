import { MemoryStore, type MemoryTx } from "tillkit";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { gate } from "../webhook/spool/hooked-file-system.js";

afterEach(async () => {
  await closeAll();
  jest.restoreAllMocks();
});

/** Returns a store with one payment, and the list to which the close of the store is added. */
async function openStore() {
  const store = Object.assign(new MemoryStore(), { durable: true });
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const order: string[] = [];
  jest.spyOn(store, "close").mockImplementation(async () => void order.push("store closed"));
  return { store, order };
}

const timers = { doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] } as never;

/** Lets everything happen that does not wait for a timer or for the test. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
}

describe("close", () => {
  it("waits for the sweep that the last check of the store starts", async () => {
    const { store, order } = await openStore();
    const payments = testKit<never, MemoryTx>({ store, spool: false });
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    // The store is now an older copy, which does not have the webhook.
    jest.spyOn(store, "webhooks").mockResolvedValue([]);
    const { opened, open } = gate();
    const sweeping = new Promise<void>((resolve) => {
      store.due = async () => {
        resolve();
        await opened;
        order.push("swept");
        return [];
      };
    });
    const closed = payments.close();
    await sweeping;
    await settle();
    open();
    await closed;
    expect(order).toEqual(["swept", "store closed"]);
  });

  it("registers the handlers after the last webhook, whose events need them", async () => {
    const { store, order } = await openStore();
    const payments = testKit<never, MemoryTx>({ store, spool: false, dispatch: false });
    payments.onPaymentCompleted(() => undefined);
    await payments.start({ keepAlive: false });
    jest.spyOn(store, "registerHandlers").mockImplementation(async () => void order.push("registered"));
    const { opened, open } = gate();
    const record = store.record.bind(store);
    const recording = new Promise<void>((resolve) => {
      store.record = async (...given) => {
        resolve();
        await opened;
        order.push("recorded");
        return record(...given);
      };
    });
    const receipt = payments.receiveWebhook(signed(completedBody()));
    await recording;
    const closed = payments.close();
    await settle();
    open();
    expect(await receipt).toMatchObject({ outcome: "applied" });
    await closed;
    expect(order).toEqual(["recorded", "registered", "store closed"]);
  });

  it("waits two seconds for the last registration of the handlers, and then closes the store", async () => {
    const { store, order } = await openStore();
    const payments = testKit<never, MemoryTx>({ store, spool: false, dispatch: false });
    payments.onPaymentCompleted(() => undefined);
    await payments.start({ keepAlive: false });
    const registering = new Promise<void>((resolve) => {
      store.registerHandlers = () => (resolve(), new Promise(() => {}));
    });
    jest.useFakeTimers(timers);
    try {
      const closed = payments.close();
      await registering;
      await jest.advanceTimersByTimeAsync(1999);
      await settle();
      expect(order).toEqual([]);
      await jest.advanceTimersByTimeAsync(1);
      await closed;
      expect(order).toEqual(["store closed"]);
    } finally {
      jest.useRealTimers();
    }
  });

  it("gives a handler that runs ten seconds to end, and then aborts it", async () => {
    const { store } = await openStore();
    const payments = testKit<never, MemoryTx>({ store, spool: false });
    const running = new Promise<AbortSignal>((resolve) => {
      payments.onPaymentCompleted(async (_, { signal }) => {
        resolve(signal);
        await new Promise<void>((end) => signal.addEventListener("abort", () => end()));
      });
    });
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    const signal = await running;
    jest.useFakeTimers(timers);
    try {
      const closed = payments.close();
      await jest.advanceTimersByTimeAsync(9999);
      expect(signal.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(signal.aborted).toBe(true);
      await closed;
    } finally {
      jest.useRealTimers();
    }
  });
});
