import {
  type Handler,
  type HandlerOptions,
  MemoryStore,
  type NoticeMap,
  type PaymentStore,
  storeOver,
} from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { memoryAdapter } from "../store/over/memory-adapter.js";
import { temporaryFiles } from "../store/sql/support/temporary-files.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

afterEach(closeAll);
const nextFile = temporaryFiles();

const dispatch = {
  pollMs: 5,
  leaseMs: 2000,
  handlerTimeoutMs: 150,
  firstDelayMs: 1,
  maxDelayMs: 2,
  concurrency: 2,
};
const forever = new Promise<never>(() => {});

const stores: [string, () => PaymentStore][] = [
  ["a store in memory", () => new MemoryStore()],
  ["a store over an adapter", () => storeOver(memoryAdapter())],
  ["a store over SQLite, whose transactions are lazy", () => sqliteStore(nextFile())],
];

/** Returns a kit with a paid payment, over a store in which a transaction never settles after `hang()`. */
async function paidKit(
  store: PaymentStore,
  handler: Handler<"payment.completed", never, unknown>,
  options: HandlerOptions = {},
) {
  const [transaction, runHandler] = [store.transaction.bind(store), store.runHandler.bind(store)];
  let isNext = false;
  const hanging = async <T>(running: Promise<T>): Promise<T> => {
    try {
      return await running;
    } finally {
      if (isNext) {
        isNext = false;
        await forever;
      }
    }
  };
  store.transaction = (work) => hanging(transaction(work));
  store.runHandler = (run, finish) => hanging(runHandler(run, finish));
  const payments = testKit<never>({ store, dispatch });
  payments.onPaymentCompleted(handler, options);
  const failed: NoticeMap["dispatch.failed"][] = [];
  const told: unknown[] = [];
  payments.on("dispatch.failed", (notice) => failed.push(notice));
  payments.on("store.unavailable", ({ error }) => told.push(error));
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  await payments.start({ keepAlive: false });
  const pay = () => payments.receiveWebhook(signed(completedBody()));
  return { payments, pay, failed, told, hang: () => (isNext = true) };
}

/** Uses a `tx`, so that one that is lazy opens its transaction. */
async function open(tx: unknown): Promise<void> {
  const { query, onCommit } = tx as {
    query?: (sql: string) => Promise<unknown>;
    onCommit?: (write: () => void) => void;
  };
  await query?.call(tx, "select 1 as one");
  onCommit?.call(tx, () => {});
}

describe("a transaction that never settles", () => {
  describe.each(stores)("of %s", (_, makeStore) => {
    it("after its handler failed counts as a failure, is told, and the handler runs again", async () => {
      const attempts: number[] = [];
      let done = (): void => {};
      const second = new Promise<void>((resolve) => (done = resolve));
      const { payments, pay, failed, told, hang } = await paidKit(
        makeStore(),
        async (_event, { tx, attempt }) => {
          attempts.push(attempt);
          await open(tx);
          if (attempts.length > 1) return done();
          hang();
          throw new Error("it failed");
        },
      );
      await pay();
      await second;
      expect(attempts).toEqual([1, 2]);
      expect(failed).toMatchObject([{ failures: 1, error: { message: "it failed" } }]);
      expect(told).toMatchObject([{ code: "transaction_hangs" }]);
      const { status, reasons } = await payments.health();
      expect([status, reasons.map(({ code }) => code)]).toEqual(["degraded", ["transactions_hanging"]]);
    });

    it("after the time limit of its handler counts as a failure", async () => {
      let runs = 0;
      let done = (): void => {};
      const second = new Promise<void>((resolve) => (done = resolve));
      const { pay, failed, hang } = await paidKit(makeStore(), async (_event, { tx }) => {
        await open(tx);
        if (++runs > 1) return done();
        hang();
        return forever;
      });
      await pay();
      await second;
      expect(failed).toMatchObject([{ failures: 1, error: { code: "handler_timeout" } }]);
    });
  });

  it("that is never opened ends at the time limit, and the handler does not run in it later", async () => {
    const store: PaymentStore = storeOver(memoryAdapter());
    const transaction = store.transaction.bind(store);
    let openLate: (() => Promise<unknown>) | undefined;
    let isNext = false;
    store.transaction = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => {
      if (!isNext) return transaction(work);
      isNext = false;
      return new Promise<T>((resolve, reject) => {
        openLate = () => transaction(work).then(resolve, reject);
      });
    };
    const claim = store.claim.bind(store);
    store.claim = async (options) => {
      const claims = await claim(options);
      isNext = claims.length > 0 && openLate === undefined;
      return claims;
    };
    const attempts: number[] = [];
    let done = (): void => {};
    const second = new Promise<void>((resolve) => (done = resolve));
    const { payments, pay, failed } = await paidKit(store, (_event, { attempt }) => {
      attempts.push(attempt);
      done();
    });
    await pay();
    await second;
    expect(failed).toMatchObject([{ error: { code: "handler_timeout" } }]);
    await openLate!();
    expect(attempts).toEqual([2]);
    expect((await payments.health()).reasons).toEqual([]);
  });

  it("whose commit has no answer does not keep a later run of the dispatch from renewing its lease", async () => {
    const adapter = memoryAdapter();
    const transaction = adapter.transaction.bind(adapter);
    let isCut = false;
    // The database has rolled back, and nobody says so.
    adapter.transaction = async (run) => {
      const result = await transaction(async (tx) => {
        const found = await run(tx);
        if (isCut) throw new Error("cut off");
        return found;
      }).catch((error: unknown) => {
        if (!isCut) throw error;
        isCut = false;
        return forever;
      });
      return result;
    };
    const store = storeOver(adapter);
    let runs = 0;
    let isDone = (): void => {};
    const done = new Promise<void>((resolve) => (isDone = resolve));
    const handler = async () => {
      runs += 1;
      if (runs === 1) return void (isCut = true);
      // Longer than a lease, and within the time limit.
      await new Promise((resolve) => setTimeout(resolve, 1.2 * dispatch.leaseMs));
      isDone();
    };
    const { pay, failed } = await paidKit(store, handler, {
      timeoutMs: 2 * dispatch.leaseMs,
    });
    await pay();
    await done;
    expect(runs).toBe(2);
    expect(failed).toMatchObject([{ error: { code: "handler_timeout" } }]);
  });

  it("of a claim stops no later claim, and is told; what it claimed runs if it ends later", async () => {
    const store: PaymentStore = new MemoryStore();
    const claim = store.claim.bind(store);
    let ended!: () => void;
    const late = new Promise<void>((resolve) => (ended = resolve));
    let isLate = false;
    store.claim = async (options) => {
      if (isLate) return claim(options);
      // With this lease, no other claim gets the dispatch.
      const claims = await claim({ ...options, leaseMs: 600_000 });
      if (claims.length === 0) return claims;
      isLate = true;
      await late;
      return claims;
    };
    const runs: string[] = [];
    let wake = (): void => {};
    const { payments, pay, told } = await paidKit(store, ({ payment }) => {
      runs.push(payment.clientId);
      wake();
    });
    const untilRun = () => new Promise<void>((resolve) => (wake = resolve));
    const isTold = new Promise<void>((resolve) => payments.on("store.unavailable", () => resolve()));
    await pay();
    await isTold;
    expect(told).toMatchObject([{ code: "store_unavailable" }]);
    const other = pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" });
    await store.transaction((tx) => store.save(tx, { created: [other] }));
    const run = untilRun();
    await payments.receiveWebhook(signed(completedBody({ id: "s-2", clientId: "c-2" })));
    await run;
    const lateRun = untilRun();
    ended();
    await lateRun;
    expect(runs).toEqual(["c-2", "c-1"]);
  });

  it("leaves its process running the handler for other events, until eight of one handler hang", async () => {
    const store = new MemoryStore();
    const { payments, hang, told } = await paidKit(store, async (_event, { tx }) => {
      await open(tx);
      hang();
      throw new Error("it failed");
    });
    const ids = Array.from({ length: 10 }, (_, index) => `c-${index}`);
    await store.transaction((tx) =>
      store.save(tx, {
        created: ids.map((clientId) =>
          pendingPayment({ clientId, reference: `r-${clientId}`, serviceId: `s-${clientId}` }),
        ),
      }),
    );
    for (const clientId of ids)
      await payments.receiveWebhook(signed(completedBody({ clientId, id: `s-${clientId}` })));
    while (told.length < 8) await new Promise((resolve) => setTimeout(resolve, 10));
    const claim = jest.spyOn(store, "claim");
    await new Promise((resolve) => setTimeout(resolve, 20 * dispatch.pollMs));
    expect(claim).not.toHaveBeenCalled();
    expect(told).toHaveLength(8);
    expect((await payments.health()).reasons).toContainEqual({
      code: "transactions_hanging",
      message: "8 transactions of handlers have not ended, although the runs have ended.",
    });
  });

  it("that stores the end of a run is told too, and keeps no slot", async () => {
    const attempts: number[] = [];
    let done = (): void => {};
    const second = new Promise<void>((resolve) => (done = resolve));
    // The handler does not use its `tx`, so the first transaction is the one that stores its failure.
    const { payments, pay, told, hang } = await paidKit(new MemoryStore(), (_event, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length > 1) return done();
      hang();
      throw new Error("it failed");
    });
    await pay();
    await second;
    expect(attempts).toEqual([1, 2]);
    while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(told).toContainEqual(expect.objectContaining({ code: "transaction_hangs" }));
    expect((await payments.health()).reasons.map(({ code }) => code)).toEqual(["transactions_hanging"]);
  });

  it("does not keep the kit from closing", async () => {
    let started = (): void => {};
    const running = new Promise<void>((resolve) => (started = resolve));
    const { payments, pay, hang } = await paidKit(new MemoryStore(), async (_event, { tx }) => {
      await open(tx);
      hang();
      started();
      throw new Error("it failed");
    });
    await pay();
    await running;
    await expect(payments.close()).resolves.toBeUndefined();
  });
});
