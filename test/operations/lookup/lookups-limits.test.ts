import { setImmediate as nextIteration } from "node:timers/promises";
import { MemoryStore, type MemoryTx, type Payment } from "tillkit";
import { Lookups, type LookupsOptions } from "../../../src/operations/lookup/lookups.js";
import { LookupError, type PaymentReader, type ShownPayment } from "../../../src/service/index.js";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { type Arrival } from "../../../src/webhook/recording/arrival.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { shown } from "./service.js";

const at = new Date("2026-11-20T12:00:00.000Z");
const unavailable = () =>
  Promise.reject(new LookupError("lookup_failed", "The service answered 503.", { httpStatus: 503 }));
/** Payments `c-0`, `c-1`, … of orders of their own, due one after the other. */
const due = (count: number, over: Partial<Payment> = {}): Payment[] =>
  Array.from({ length: count }, (_, n) =>
    pendingPayment({
      clientId: `c-${n}`,
      reference: `order-${n}`,
      serviceId: `s-${n}`,
      nextLookupAt: new Date(at.getTime() - 60_000 + n).toISOString(),
      ...over,
    }),
  );

const all: Lookups<MemoryTx>[] = [];
afterEach(async () => {
  for (const each of all.splice(0)) await each.close();
});

/** Lookups of a store with these payments. The answers of `read` are recorded in a list, and not in the store. */
async function lookupsOf(
  created: readonly Payment[],
  {
    read = async (serviceId) => shown(serviceId, { status: "pending", captured: false }),
    list = async () => [],
    record,
    now = () => at,
    ...options
  }: Partial<PaymentReader> &
    Partial<LookupsOptions> & { record?: (arrival: Arrival) => Promise<unknown>; now?: () => Date },
) {
  const store = new MemoryStore();
  await saved(store, { created });
  const asked: string[] = [];
  const recorded: string[] = [];
  const failed: { clientId?: string; error: unknown }[] = [];
  const lookups = new Lookups<MemoryTx>(
    {
      store,
      now,
      cautiousNow: () => at,
      newId: () => "an-id",
      ready: async () => {},
      notify: (_: string, notice: (typeof failed)[number]) => void failed.push(notice),
    } as never,
    {
      afterMs: 120_000,
      maxDelayMs: 21_600_000,
      giveUpAfterMs: 259_200_000,
      covers: "body",
      perSecond: 1_000_000,
      afterReturnMs: 0,
      sweepMs: 60_000,
      ...options,
    },
    {
      reader: {
        read: (serviceId, closing) => {
          asked.push(serviceId);
          return read(serviceId, closing);
        },
        list: (page, closing) => {
          asked.push(`list from ${page.offset}`);
          return list(page, closing);
        },
      },
      record:
        record ?? (async ({ message }) => void recorded.push((message as never)["verified"]["clientId"])),
    },
  );
  all.push(lookups);
  /** Resolves when this number of requests was made. */
  const untilAsked = async (count: number) => {
    while (asked.length < count) await nextIteration();
  };
  /** Resolves when nothing of what was started before can still be going on in memory. */
  const settled = async () => {
    for (let turn = 0; turn < 50; turn++) await nextIteration();
  };
  return { store, lookups, asked, recorded, failed, untilAsked, settled };
}

describe("one sweep of lookups", () => {
  it("asks as often as the rate allows until the next sweep, also where that is no multiple of a batch", async () => {
    const { lookups, asked } = await lookupsOf(due(40), { perSecond: 1000, sweepMs: 15 });
    expect(await lookups.sweep()).toBe(15);
    expect(asked).toEqual(due(15).map(({ serviceId }) => serviceId));
  });

  it("asks as often as the rate allows, and does not count those that the store refuses to claim", async () => {
    const { store, lookups, asked } = await lookupsOf(due(15), { perSecond: 1000, sweepMs: 5 });
    const lock = store.lock.bind(store);
    store.lock = (tx, keys) =>
      keys.clientIds?.some((id) => ["c-0", "c-1", "c-2"].includes(id))
        ? Promise.reject(new Error("locked"))
        : lock(tx, keys);
    await expect(lookups.sweep()).rejects.toThrow("locked");
    expect(asked).toEqual(["s-3", "s-4", "s-5", "s-6", "s-7"]);
  });

  it("reads the list although the store refuses to claim another payment", async () => {
    const { serviceId: _, ...unbound } = due(1)[0]!;
    const { store, lookups, asked } = await lookupsOf([unbound, due(2)[1]!], {});
    const lock = store.lock.bind(store);
    store.lock = (tx, keys) =>
      keys.clientIds?.includes("c-1") ? Promise.reject(new Error("locked")) : lock(tx, keys);
    await expect(lookups.sweep()).rejects.toThrow("locked");
    expect(asked).toEqual(["list from 0"]);
  });

  it("ends after ten payments that the store refuses to claim, as early lookups do", async () => {
    const { store, lookups, asked, settled } = await lookupsOf(due(30), {});
    const refuse = async () => {
      throw new Error("locked");
    };
    const lock = jest.spyOn(store, "lock").mockImplementation(refuse);
    await expect(lookups.sweep()).rejects.toThrow("locked");
    // The first call is for all ten.
    expect(lock).toHaveBeenCalledTimes(11);
    lock.mockClear();
    for (const { clientId } of due(30)) lookups.askNow(clientId);
    await settled();
    expect([lock.mock.calls.length, asked]).toEqual([10, []]);
  });

  it("ends after three failures in a row, as the sweep before it did", async () => {
    const { lookups, asked } = await lookupsOf(due(30), { read: unavailable });
    expect([await lookups.sweep(), await lookups.sweep()]).toEqual([3, 3]);
    expect(asked).toHaveLength(6);
  });

  it("asks once more about payments whose next lookup was planned by a clock that was wrong", async () => {
    let aheadMs = 30 * 24 * 3_600_000;
    const now = () => new Date(at.getTime() + aheadMs);
    const { lookups, asked, settled } = await lookupsOf(due(1), { now });
    const sweeps: unknown[] = [];
    for (const ms of [aheadMs, aheadMs + 1, 0, 0, 0]) {
      aheadMs = ms;
      await lookups.sweep();
      await settled();
      sweeps.push(asked.length);
    }
    expect(sweeps).toEqual([1, 1, 2, 2, 2]);
  });

  it("asks about three of the service ids that unconfirmed webhooks of a payment name", async () => {
    const { serviceId: _, ...unbound } = due(1)[0]!;
    const { store, lookups, asked } = await lookupsOf([unbound], {});
    const webhooks = Array.from({ length: 5 }, (_, n) =>
      webhook(`w-${n}`, {
        outcome: "unconfirmed",
        clientId: "c-0",
        rawBody: Buffer.from(
          JSON.stringify(completedBody({ clientId: "c-0", id: `x-${Math.max(0, n - 1)}` })),
        ),
        receivedAt: `2026-11-20T10:00:0${n}.000Z`,
      }),
    );
    await saved(store, { webhooks });
    await lookups.sweep();
    expect(asked).toEqual(["x-0", "x-1", "x-2", "list from 0"]);
  });

  it.each(["lookupDue", "transaction"] as const)(
    "fails where %s of the store never ends, and the next one asks",
    async (method) => {
      const { store, lookups, asked } = await lookupsOf(due(1), {});
      const real = store[method].bind(store);
      jest.useFakeTimers({ doNotFake: ["performance"] });
      try {
        store[method] = () => new Promise<never>(() => {});
        const failed = lookups.sweep().catch((error: unknown) => error);
        await jest.advanceTimersByTimeAsync(60_000);
        expect(await failed).toMatchObject({ code: "store_unavailable" });
      } finally {
        jest.useRealTimers();
        store[method] = real as never;
      }
      expect(await lookups.sweep()).toBe(1);
      expect(asked).toEqual(["s-0"]);
    },
  );

  it.each([
    ["all others, and fails then, where the store refuses to claim some", ["c-0", "c-3", "c-11"], 12],
    ["nothing after ten that the store refuses to claim", due(10).map(({ clientId }) => clientId), 0],
  ])("asks about %s", async (_, refusedIds, count) => {
    const { store, lookups, asked } = await lookupsOf(due(15), {});
    const lock = store.lock.bind(store);
    store.lock = (tx, keys) =>
      keys.clientIds?.some((id) => refusedIds.includes(id))
        ? Promise.reject(new Error(`${keys.clientIds.join()} is locked`))
        : lock(tx, keys);
    await expect(lookups.sweep()).rejects.toThrow(/^c-0 is locked$/);
    expect(asked).toHaveLength(count);
    store.lock = lock;
    expect(await lookups.sweep()).toBe(15 - count);
    expect(asked).toHaveLength(15);
  });

  it("is joined by a second call", async () => {
    const { lookups, asked } = await lookupsOf(due(3), {});
    expect(await Promise.all([lookups.sweep(), lookups.sweep()])).toEqual([3, 3]);
    expect(asked).toHaveLength(3);
  });

  it("asks only about payments that are due, and not about others of their order", async () => {
    const others = { reference: "order-0", nextLookupAt: "2026-11-20T12:00:00.001Z", open: false };
    const { store, lookups, asked } = await lookupsOf(
      [...due(1), pendingPayment({ clientId: "later", serviceId: "later", ...others })],
      {},
    );
    expect(await lookups.sweep()).toBe(1);
    expect(asked).toEqual(["s-0"]);
    expect(await store.find("later")).toMatchObject({ nextLookupAt: others.nextLookupAt });
  });

  it("asks about payments with a service id although others have none, and reads the list once for these", async () => {
    const [first, second, third] = due(3) as [Payment, Payment, Payment];
    const { serviceId: _, ...unbound } = first;
    const list = async () => [shown("s-0", { clientId: "c-0" }) as ShownPayment];
    const { lookups, asked, recorded } = await lookupsOf([unbound, second, third], { list });
    expect(await lookups.sweep()).toBe(3);
    expect(asked).toEqual(["s-1", "s-2", "list from 0"]);
    expect(recorded).toEqual(["c-1", "c-2", "c-0"]);
  });

  it("reports that the list could not be read, which is about no single payment", async () => {
    const { serviceId: _, ...unbound } = due(1)[0]!;
    const { lookups, failed } = await lookupsOf([unbound], { list: unavailable });
    expect(await lookups.sweep()).toBe(1);
    expect(failed).toMatchObject([{ error: { code: "lookup_failed", httpStatus: 503 } }]);
    expect(failed[0]).not.toHaveProperty("clientId");
  });

  it("goes on after any number of answers that cannot be used", async () => {
    const read = async (serviceId: string) =>
      shown(serviceId, serviceId === "s-5" ? {} : { total: { value: 1475, currency: "KMF" } });
    const { lookups, recorded, failed } = await lookupsOf(due(6), { read });
    expect(await lookups.sweep()).toBe(6);
    expect(recorded).toEqual(["c-5"]);
    expect(failed.map(({ clientId }) => clientId)).toEqual(["c-0", "c-1", "c-2", "c-3", "c-4"]);
  });

  it("ends where the service wants to be left alone, and reads no list", async () => {
    const busy = { httpStatus: 429, retryAfterMs: 3_600_000 };
    const read = () => Promise.reject(new LookupError("lookup_failed", "The service answered 429.", busy));
    const { lookups, asked, failed } = await lookupsOf(due(5), { read });
    expect(await lookups.sweep()).toBe(1);
    expect(await lookups.sweep()).toBe(0);
    expect([asked, failed.length]).toEqual([["s-0"], 1]);
  });

  it("leaves no payment of its last batch without its last lookup after three failures", async () => {
    let isUp = false;
    const read = async (serviceId: string) => (isUp ? shown(serviceId) : unavailable());
    const { store, lookups, asked, recorded, settled } = await lookupsOf(due(5), { read, giveUpAfterMs: 1 });
    expect(await lookups.sweep()).toBe(3);
    expect(await store.find("c-4")).not.toHaveProperty("nextLookupAt");
    await settled();
    expect(asked).toHaveLength(3);
    isUp = true;
    await lookups.sweep();
    await settled();
    expect(recorded).toEqual(["c-3", "c-4"]);
  });

  it("leaves the service alone for five minutes at most", async () => {
    const busy = { httpStatus: 429, retryAfterMs: 3_600_000 };
    const read = () => Promise.reject(new LookupError("lookup_failed", "The service answered 429.", busy));
    const { lookups } = await lookupsOf(due(20), { read });
    let elapsed = performance.now();
    const clock = jest.spyOn(performance, "now").mockImplementation(() => elapsed);
    try {
      expect(await lookups.sweep()).toBe(1);
      elapsed += 5 * 60_000 - 1;
      expect(await lookups.sweep()).toBe(0);
      elapsed += 1;
      expect(await lookups.sweep()).toBe(1);
    } finally {
      clock.mockRestore();
    }
  });

  it("names an answer about another payment, and does not record it", async () => {
    const read = async (serviceId: string) => shown(serviceId, { clientId: "c-9" });
    const { lookups, failed, recorded } = await lookupsOf(due(1), { read });
    await lookups.sweep();
    expect(failed).toMatchObject([{ clientId: "c-0", error: { code: "lookup_answer_invalid" } }]);
    expect(recorded).toEqual([]);
  });

  it("asks nothing more and claims nothing once the kit is closed", async () => {
    const { store, lookups, asked, failed } = await lookupsOf(due(3), {});
    await lookups.close();
    expect(await lookups.sweep()).toBe(0);
    lookups.askNow("c-1");
    await lookups.close();
    expect([asked, failed]).toEqual([[], []]);
    for (const payment of due(3)) expect(await store.find(payment.clientId)).toEqual(payment);
  });

  it.each(["sweep", "askNow"] as const)(
    "that %s started is waited for by the closing of the kit, which records the answer that has come",
    async (method) => {
      const order: string[] = [];
      const { lookups, asked, untilAsked } = await lookupsOf(due(3), {
        record: async () => {
          for (let turn = 0; turn < 5; turn++) await nextIteration();
          order.push("recorded");
        },
      });
      const running = lookups[method]("c-0");
      await untilAsked(1);
      await lookups.close();
      order.push("closed");
      expect(order).toEqual(["recorded", "closed"]);
      // Only a sweep resolves to a number.
      expect((await running) ?? 0).toBeLessThan(3);
      expect(asked).toEqual(["s-0"]);
    },
  );

  it("is no failure where the closing of the kit ends its request", async () => {
    const read = (_: string, closing: AbortSignal) =>
      new Promise<never>((_resolve, reject) =>
        closing.addEventListener("abort", () => reject(closing.reason as Error)),
      );
    const { lookups, failed, untilAsked } = await lookupsOf(due(3), { read });
    const sweeping = lookups.sweep();
    await untilAsked(1);
    await lookups.close();
    expect([await sweeping, failed]).toEqual([1, []]);
  });
});

describe("early lookups", () => {
  it("are made in the order of the calls, before their time, and not for what is completed or unknown", async () => {
    const [first, second, third] = due(3, { nextLookupAt: "2026-11-21T12:00:00.000Z" }) as [
      Payment,
      Payment,
      Payment,
    ];
    const paid: Payment = { ...second, state: "completed", open: false, lookups: 2 };
    const { lookups, asked, untilAsked, settled } = await lookupsOf([first, paid, third], {});
    for (const clientId of ["c-2", "nobody", "c-1", "c-0", "c-0"]) lookups.askNow(clientId);
    await untilAsked(2);
    await settled();
    expect(asked).toEqual(["s-2", "s-0"]);
  });

  it("end after three failures in a row; the next one takes up those that wait", async () => {
    let isUp = false;
    const read = async (serviceId: string) => (isUp ? shown(serviceId) : unavailable());
    const { lookups, asked, recorded, settled } = await lookupsOf(due(6), { read });
    for (let n = 0; n < 5; n++) lookups.askNow(`c-${n}`);
    await settled();
    expect(asked).toEqual(["s-0", "s-1", "s-2"]);
    isUp = true;
    lookups.askNow("c-5");
    await settled();
    expect(recorded).toEqual(["c-3", "c-4", "c-5"]);
  });

  it("end after three failures in a row, as those before them did", async () => {
    const { lookups, asked, settled } = await lookupsOf(due(8), { read: unavailable });
    for (let n = 0; n < 7; n++) lookups.askNow(`c-${n}`);
    await settled();
    expect(asked).toHaveLength(3);
    lookups.askNow("c-7");
    await settled();
    expect(asked).toHaveLength(6);
  });

  it("go on after a store that was not available", async () => {
    const { store, lookups, recorded, settled } = await lookupsOf(due(2), {});
    const transaction = store.transaction.bind(store);
    store.transaction = () => Promise.reject(new Error("connection refused"));
    lookups.askNow("c-0");
    await settled();
    store.transaction = transaction;
    lookups.askNow("c-1");
    await settled();
    expect(recorded).toEqual(["c-0", "c-1"]);
  });

  it("are made for the others where one payment is locked, also if they were wanted meanwhile", async () => {
    const later = { nextLookupAt: "2026-11-21T12:00:00.000Z" };
    const { store, lookups, asked, settled } = await lookupsOf(due(3, later), {});
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      if (!keys.clientIds?.includes("c-0")) return lock(tx, keys);
      lookups.askNow("c-2");
      throw new Error("c-0 is locked");
    };
    for (const clientId of ["c-0", "c-1"]) lookups.askNow(clientId);
    await settled();
    expect(asked).toEqual(["s-1", "s-2"]);
    store.lock = lock;
    await lookups.sweep();
    await settled();
    expect(asked).toEqual(["s-1", "s-2", "s-0"]);
  });

  it("that were not made are made by the next sweep, also for a payment that has no other lookup", async () => {
    const { nextLookupAt: _, ...over } = due(1, { lookups: 9 })[0]!;
    const { store, lookups, asked, settled } = await lookupsOf([over], {});
    const transaction = store.transaction.bind(store);
    store.transaction = () => Promise.reject(new Error("connection refused"));
    lookups.askNow("c-0");
    await settled();
    store.transaction = transaction;
    await lookups.sweep();
    await settled();
    expect(asked).toEqual(["s-0"]);
  });

  it("that wait after three failures are made by the next sweep", async () => {
    let isUp = false;
    const read = async (serviceId: string) => (isUp ? shown(serviceId) : unavailable());
    const later = { nextLookupAt: "2026-11-21T12:00:00.000Z" };
    const { lookups, asked, recorded, settled } = await lookupsOf(due(4, later), { read });
    for (let n = 0; n < 4; n++) lookups.askNow(`c-${n}`);
    await settled();
    expect(asked).toHaveLength(3);
    isUp = true;
    await lookups.sweep();
    await settled();
    expect(recorded).toEqual(["c-3"]);
  });

  it.each(["askNow", "askAfterReturn"] as const)(
    "by %s are a thousand at most, so that its memory is bounded",
    async (way) => {
      const { lookups, asked, untilAsked, settled } = await lookupsOf(due(1001), {});
      for (let n = 0; n < 1001; n++) lookups[way](`c-${n}`);
      await untilAsked(1000);
      await settled();
      expect(asked).toHaveLength(1000);
      expect(asked).not.toContain("s-1000");
      lookups[way]("c-1000");
      await untilAsked(1001);
      expect(asked.at(-1)).toBe("s-1000");
    },
  );

  it("go on with the next call also where a thousand wait after three failures", async () => {
    let isUp = false;
    let fail!: () => void;
    const third = new Promise<void>((resolve) => (fail = resolve));
    const read = async (serviceId: string) => {
      if (serviceId === "s-2") await third;
      return isUp ? shown(serviceId) : unavailable();
    };
    const { lookups, asked, recorded, untilAsked, settled } = await lookupsOf(due(1004), { read });
    for (let n = 0; n < 1000; n++) lookups.askNow(`c-${n}`);
    await untilAsked(3);
    for (let n = 1000; n < 1003; n++) lookups.askNow(`c-${n}`);
    fail();
    await settled();
    expect(asked).toHaveLength(3);
    isUp = true;
    lookups.askNow("c-1003");
    await untilAsked(1003);
    await settled();
    expect(recorded).toHaveLength(1000);
    expect(recorded).not.toContain("c-1003");
  });

  it("are made for a payment that comes while the list is read", async () => {
    const [first, second] = due(2) as [Payment, Payment];
    const { serviceId: _, ...unbound } = first;
    const answers: ((listed: ShownPayment[]) => void)[] = [];
    const list = () =>
      answers.length > 0
        ? Promise.resolve([])
        : new Promise<ShownPayment[]>((resolve) => answers.push(resolve));
    const { lookups, asked, untilAsked } = await lookupsOf([unbound, second], { list });
    lookups.askNow("c-0");
    await untilAsked(1);
    lookups.askNow("c-1");
    answers[0]!([]);
    await untilAsked(3);
    expect(asked.slice(0, 3)).toEqual(["list from 0", "s-1", "list from 0"]);
  });

  it("after a return are not made where the kit is closed before their time", async () => {
    const { lookups, asked, settled } = await lookupsOf(due(1), {});
    const before = process.getActiveResourcesInfo().length;
    lookups.askAfterReturn("c-0");
    // The timer does not keep the process alive.
    expect(process.getActiveResourcesInfo()).toHaveLength(before);
    await lookups.close();
    await settled();
    expect(asked).toEqual([]);
  });
});
