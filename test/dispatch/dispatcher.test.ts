import {
  type Claim,
  type ClaimOptions,
  MemoryStore,
  type MemoryTx,
  type NoticeMap,
  type PaymentStore,
  type TillkitEvent,
} from "tillkit";
import { sqliteStore, type SqlTx } from "tillkit/sql";
import { temporaryFiles } from "../store/sql/support/temporary-files.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

afterEach(closeAll);
const nextFile = temporaryFiles();

const fast = { firstDelayMs: 1, maxDelayMs: 2, pollMs: 5 };

/** A kit with a pending payment, ready for its webhook. */
async function paidKit(options: Parameters<typeof testKit<never, MemoryTx>>[0] = {}) {
  const store = options.store ?? new MemoryStore();
  const payments = testKit<never, MemoryTx>({ store, dispatch: fast, ...options });
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const pay = async () => {
    await payments.start({ keepAlive: false });
    return payments.receiveWebhook(signed(completedBody()));
  };
  return { payments, store, pay };
}

describe("a handler", () => {
  it("runs again until it succeeds, with the same idempotency key and a growing attempt", async () => {
    const { payments, pay } = await paidKit();
    const runs: { key: string; attempt: number }[] = [];
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted((_, { idempotencyKey, attempt }) => {
        runs.push({ key: idempotencyKey, attempt });
        if (attempt < 3) throw new Error("not yet");
        resolve();
      });
    });
    await pay();
    await done;
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(runs.map(({ key }) => key)).size).toBe(1);
  });

  it("that never succeeds becomes a dead dispatch with a notice, and does not delay other handlers", async () => {
    const { payments, pay } = await paidKit({ dispatch: { ...fast, maxFailures: 3 } });
    let runs = 0;
    payments.onPaymentCompleted(() => {
      runs += 1;
      throw new Error("broken for good");
    });
    const other = new Promise<void>((resolve) =>
      payments.on("payment.completed", () => resolve(), { name: "mail" }),
    );
    const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
    await pay();
    await other;
    expect(await dead).toMatchObject({ handler: "payment.completed", error: "Error: broken for good" });
    expect(runs).toBe(3);
  });

  it("that failed waits for its next run, also where that wait is far longer than a lease", async () => {
    let isClaimedAgain = () => {};
    const claimedAgain = new Promise<void>((resolve) => (isClaimedAgain = resolve));
    const [runs, claimsAfterTheRun] = [[] as number[], [] as Claim[][]];
    class WatchedStore extends MemoryStore {
      override async claim(options: ClaimOptions): Promise<Claim[]> {
        const claims = await super.claim(options);
        if (runs.length > 0 && claimsAfterTheRun.push(claims) === 3) isClaimedAgain();
        return claims;
      }
    }
    const anHour = { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 };
    const { payments, pay } = await paidKit({ store: new WatchedStore(), dispatch: { ...fast, ...anHour } });
    payments.onPaymentCompleted((_, { attempt }) => {
      runs.push(attempt);
      throw new Error("not yet");
    });
    await pay();
    await claimedAgain;
    expect(claimsAfterTheRun.slice(0, 3)).toEqual([[], [], []]);
  });

  it("commits its writes once, and only with the run that succeeded", async () => {
    const { payments, pay } = await paidKit();
    const ledger: string[] = [];
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(({ payment }, { tx, attempt }) => {
        tx.onCommit(() => {
          ledger.push(`${payment.reference} in run ${attempt}`);
          resolve();
        });
        if (attempt < 3) throw new Error("after the write");
      });
    });
    await pay();
    await done;
    await payments.close();
    expect(ledger).toEqual(["order-1 in run 3"]);
  });

  it("is aborted at its time limit, its writes are rolled back, and it runs again", async () => {
    const { payments, pay } = await paidKit({ dispatch: { ...fast, handlerTimeoutMs: 20 } });
    const ledger: number[] = [];
    const reasons: unknown[] = [];
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(async (_, { tx, signal, attempt }) => {
        tx.onCommit(() => {
          ledger.push(attempt);
          resolve();
        });
        if (attempt > 1) return;
        await new Promise<void>((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      });
    });
    payments.on("dispatch.failed", ({ error }) => void reasons.push(error));
    await pay();
    await done;
    await payments.close();
    expect(ledger).toEqual([2]);
    expect(reasons).toEqual([expect.objectContaining({ code: "handler_timeout" })]);
  });

  it("that hangs and ignores its signal is given up at its time limit", async () => {
    const { payments, pay } = await paidKit({ dispatch: { ...fast, handlerTimeoutMs: 20, maxFailures: 1 } });
    payments.onPaymentCompleted(() => new Promise(() => {}));
    const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
    await pay();
    expect((await dead).error).toContain("ran longer than 20 ms");
  });

  it("may have a time limit of its own", async () => {
    const { payments, pay } = await paidKit({ dispatch: { ...fast, maxFailures: 1 } });
    payments.onPaymentCompleted(() => new Promise(() => {}), { timeoutMs: 20 });
    const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
    await pay();
    expect((await dead).error).toContain("ran longer than 20 ms");
  });

  it("that asks for its signal only after its time limit finds it aborted", async () => {
    const { payments, pay } = await paidKit({ dispatch: { ...fast, handlerTimeoutMs: 20, maxFailures: 1 } });
    let signal: (() => AbortSignal) | undefined;
    payments.onPaymentCompleted((_, context) => {
      signal = () => context.signal;
      return new Promise(() => {});
    });
    const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
    await pay();
    await dead;
    expect(signal?.()).toMatchObject({ aborted: true, reason: { code: "handler_timeout" } });
    expect(signal?.()).toBe(signal?.());
  });

  it("that uses tx after it has resolved writes nothing", async () => {
    const { payments, pay } = await paidKit();
    let kept: MemoryTx | undefined;
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted((_, { tx }) => {
        kept = tx;
        setImmediate(resolve);
      });
    });
    await pay();
    await done;
    await payments.close();
    const late: string[] = [];
    kept?.onCommit(() => late.push("written"));
    await new Promise(setImmediate);
    expect(late).toEqual([]);
  });
});

describe("dispatching", () => {
  it("gives every handler name its own run of an event, and a handler of all events every event", async () => {
    const { payments, pay } = await paidKit();
    const seen: string[] = [];
    const all = new Promise<void>((resolve) => {
      const note = (who: string) => () => {
        seen.push(who);
        if (seen.length === 3) resolve();
      };
      payments.onPaymentCompleted(note("unnamed"));
      payments.onPaymentCompleted(note("books"), { name: "books" });
      payments.onAny(note("any"));
    });
    await pay();
    await all;
    expect(seen.toSorted()).toEqual(["any", "books", "unnamed"]);
  });

  it("refuses a second handler of the same name", () => {
    const payments = testKit();
    payments.onPaymentCompleted(() => {});
    expect(() => payments.onPaymentCompleted(() => {})).toThrow(
      expect.objectContaining({ code: "handler_name_taken" }),
    );
    payments.onAny(() => {}, { name: "books" });
    expect(() => payments.on("payment.updated", () => {}, { name: "books" })).toThrow(/books/);
    payments.on("payment.updated", () => {}, { name: "mail" });
    expect(() => payments.onAny(() => {}, { name: "mail" })).toThrow(/mail/);
  });

  it("dispatches after a restart the events that were recorded before it", async () => {
    const store = new MemoryStore();
    const first = await paidKit({ store });
    first.payments.onPaymentCompleted(() => {
      throw new Error("the process is about to end");
    });
    const failed = new Promise((resolve) => first.payments.on("dispatch.failed", resolve));
    await first.pay();
    await failed;
    // The store stays open after its first kit, like a database after a process.
    store.close = async () => {};
    await first.payments.close();

    const second = testKit<never, MemoryTx>({ store, dispatch: fast });
    const handled = new Promise<TillkitEvent<"payment.completed", never>>((resolve) =>
      second.onPaymentCompleted(resolve),
    );
    await second.start({ keepAlive: false });
    expect((await handled).payment.reference).toBe("order-1");
  });

  it("runs no handler in a process with dispatch: false, and registers their names", async () => {
    const store = new MemoryStore();
    const web = await paidKit({ store, dispatch: false });
    web.payments.onPaymentCompleted(() => {
      throw new Error("must not run here");
    });
    await web.pay();

    const worker = testKit<never, MemoryTx>({ store, dispatch: fast });
    const handled = new Promise<string>((resolve) =>
      worker.onPaymentCompleted(({ payment }) => resolve(payment.reference)),
    );
    await worker.start({ keepAlive: false });
    expect(await handled).toBe("order-1");
  });

  it("waits at close for running handlers", async () => {
    const { payments, pay } = await paidKit();
    const finished: string[] = [];
    const running = new Promise<void>((started) => {
      payments.onPaymentCompleted(async () => {
        started();
        await new Promise(setImmediate);
        finished.push("finished");
      });
    });
    await pay();
    await running;
    await payments.close();
    expect(finished).toEqual(["finished"]);
  });

  it("counts runs that ended with the process, and is dead after too many of them", async () => {
    const store = new MemoryStore();
    const { payments, pay } = await paidKit({ store, dispatch: { ...fast, maxLostLeases: 2 } });
    let runs = 0;
    payments.onPaymentCompleted(() => void (runs += 1));
    const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
    const handlers = [{ event: "payment.completed", name: "payment.completed" }] as const;
    await store.registerHandlers(handlers);
    await payments.receiveWebhook(signed(completedBody()));
    // Two claimers that die: their dispatches are free again when the lease ends.
    for (let taken = 0; taken < 2; await new Promise(setImmediate)) {
      taken += (await store.claim({ handlers, limit: 1, leaseMs: 1 })).length;
    }
    await pay();
    expect((await dead).error).toContain("2 runs");
    expect(runs).toBe(0);
  });
});

describe("a handler that hangs", () => {
  it("does not take the slots of other handlers, although its own dispatches are always the oldest", async () => {
    const store = new MemoryStore();
    const count = 30;
    const ids = Array.from({ length: count }, (_, index) => `c-${index}`);
    const created = ids.map((clientId) =>
      pendingPayment({ clientId, reference: clientId, serviceId: `s-${clientId}` }),
    );
    await store.transaction((tx) => store.save(tx, { created }));
    const payments = testKit<never, MemoryTx>({
      store,
      dispatch: { ...fast, concurrency: 4, handlerTimeoutMs: 60_000 },
    });
    payments.onPaymentCompleted(
      (_, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
      { name: "hangs", timeoutMs: 5000 },
    );
    const done = new Set<string>();
    const all = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(
        ({ payment }) => {
          if (done.add(payment.clientId).size === count) resolve();
        },
        { name: "books" },
      );
    });
    await payments.start({ keepAlive: false });
    await Promise.all(
      ids.map((clientId) =>
        payments.receiveWebhook(signed(completedBody({ clientId, id: `s-${clientId}` }))),
      ),
    );
    await all;
    expect(done.size).toBe(count);
  });

  it("leaves each claim only the free slots of the name that has the fewest", async () => {
    const running = { hangs: 0, idle: 0 };
    const claims: { free: number; limit: number }[] = [];
    class WatchedStore extends MemoryStore {
      override claim(options: ClaimOptions): Promise<Claim[]> {
        const taken = options.handlers.map(({ name }) => running[name as keyof typeof running]);
        claims.push({ free: 2 - Math.max(...taken), limit: options.limit });
        return super.claim(options);
      }
    }
    const { payments, pay } = await paidKit({
      store: new WatchedStore(),
      dispatch: { ...fast, concurrency: 4 },
    });
    const claimedAgain = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(
        async () => {
          running.hangs = 1;
          const before = claims.length;
          while (claims.length === before) await new Promise((wait) => setTimeout(wait, 1));
          resolve();
        },
        { name: "hangs" },
      );
    });
    payments.on("payment.overdue", () => undefined, { name: "idle" });
    await pay();
    await claimedAgain;
    expect(claims.at(-1)).toEqual({ free: 1, limit: 1 });
    expect(claims.filter(({ free, limit }) => limit > free)).toEqual([]);
  });

  it("cannot have a time limit that Node's timers would fire after 1 ms", () => {
    const payments = testKit();
    const tooLong = { timeoutMs: Number.MAX_SAFE_INTEGER };
    expect(() => payments.onPaymentCompleted(() => {}, tooLong)).toThrow(/timeoutMs/);
    expect(() => testKit({ dispatch: { handlerTimeoutMs: 2 ** 31 } })).toThrow(/handlerTimeoutMs/);
  });
});

describe("a listener of notices that fails", () => {
  it("stops neither the others nor the process, whether it throws or rejects", async () => {
    const { payments, pay } = await paidKit({ dispatch: { ...fast, maxFailures: 1 } });
    payments.onPaymentCompleted(() => {
      throw new Error("broken");
    });
    payments.on("dispatch.dead", () => {
      throw new Error("an alarm that throws");
    });
    payments.on("dispatch.dead", () => Promise.reject(new Error("an alarm that rejects")));
    const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
    await pay();
    expect((await dead).handler).toBe("payment.completed");
  });
});

describe.each([
  { where: "in memory", open: () => new MemoryStore() as PaymentStore },
  { where: "on SQLite", open: () => sqliteStore(nextFile()) as PaymentStore },
])("a backlog $where", ({ open }) => {
  it("does not keep the event loop until the last handler has run", async () => {
    const store = open();
    const payments = testKit<never>({ store, dispatch: fast });
    const count = 200;
    let handled = 0;
    let handledByThen = 0;
    const done = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(async (_, { tx }) => {
        // A handler that waits only for its own database. On SQLite that is synchronous.
        if ("query" in (tx as object)) await (tx as SqlTx).query("select 1");
        if (++handled === 1) setImmediate(() => (handledByThen = handled));
        if (handled === count) resolve();
      });
    });
    const created = Array.from({ length: count }, (_, n) =>
      pendingPayment({ clientId: `c-${n}`, reference: `order-${n}`, serviceId: `s-${n}` }),
    );
    await store.transaction((tx) => store.save(tx, { created }));
    await Promise.all(
      created.map(({ clientId, serviceId }) =>
        payments.receiveWebhook(signed(completedBody({ clientId, id: serviceId! }))),
      ),
    );
    await payments.start({ keepAlive: true });
    await done;
    expect(handledByThen).toBeGreaterThan(0);
    expect(handledByThen).toBeLessThan(count / 4);
  });
});
