import { randomUUID } from "node:crypto";
import { setImmediate as nextIteration } from "node:timers/promises";
import { MemoryStore, type MemoryTx, type Payment, type PaymentsOptions, type WebhookRecord } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { createSweeper } from "../../../src/operations/sweep/sweep-payments.js";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";

afterEach(closeAll);

const now = () => new Date("2026-11-20T10:00:00.000Z");
const old = { createdAt: "2026-11-18T10:00:00.000Z" };
const shop = (store: MemoryStore, options: Partial<PaymentsOptions<never, MemoryTx>> = {}) =>
  testKit<never, MemoryTx>({ store, now, ...options });

/** A completion of `c-1` that waits for its payment. */
const waiting = (receiptId: string, over: Partial<WebhookRecord> = {}): WebhookRecord =>
  webhook(receiptId, {
    receiptId,
    outcome: "unmatched",
    clientId: "c-1",
    rawBody: Buffer.from(JSON.stringify(completedBody())),
    receivedAt: "2026-11-20T08:00:00.000Z",
    ...over,
  });

async function storeWith(changes: Parameters<typeof saved>[1]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await saved(store, changes);
  return store;
}

/** Makes a sweeper without a kit. Payments are overdue, and webhooks are raised, after a millisecond. */
function sweeperOf(
  store: MemoryStore,
  {
    lookups,
    matched = async () => {},
    announceEvents = () => {},
    announce,
    silence,
    ...over
  }: {
    lookups?: { sweep(): Promise<number> };
    matched?: () => Promise<void>;
    announceEvents?: () => void;
    announce?: () => Promise<number>;
    silence?: { look(): Promise<void> };
    now?: () => Date;
    cautiousNow?: () => Date;
    maxGroup?: number;
  },
) {
  const parts = { store, now, cautiousNow: now, newId: randomUUID, maxGroup: 9, ...over };
  return createSweeper<MemoryTx>(
    { ...parts, policy: {}, ready: async () => {}, announceEvents } as never,
    { overdueMs: 1, unmatchedAfterMs: 1 },
    { recorder: { matched }, lookups, ...(announce && { announce }), ...(silence && { silence }) },
  );
}

async function refuse(): Promise<never> {
  throw new Error("refused");
}

/** Makes the first call of one of the store's methods return only the first row. */
function showingOneAtFirst(store: MemoryStore): void {
  const stray = store.stray.bind(store);
  let calls = 0;
  store.stray = async (tx, options) => (await stray(tx, options)).slice(0, ++calls === 1 ? 1 : undefined);
}

describe("a sweep", () => {
  it("leaves a new payment of an order alone whose old payment is overdue", async () => {
    const young = pendingPayment({ clientId: "c-2", serviceId: "s-2", open: false });
    const store = await storeWith({ created: [pendingPayment(old), young] });
    expect(await shop(store).sweep()).toMatchObject({ overdue: 1 });
    expect(await store.find("c-2")).toEqual(young);
  });

  it("raises no payment as overdue whose webhook it matches first", async () => {
    const store = await storeWith({
      created: [pendingPayment(old)],
      webhooks: [waiting("r-1", { receivedAt: now().toISOString() })],
    });
    expect(await shop(store).sweep()).toEqual({ overdue: 0, unmatched: 0, lookups: 0 });
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    expect((await store.history("c-1")).events).toMatchObject([{ type: "payment.completed" }]);
  });

  it("asks the service before it raises anything, because an answer may settle it", async () => {
    const overdue = pendingPayment({ ...old, clientId: "c-9" });
    const store = await storeWith({ created: [overdue], webhooks: [waiting("r-1")] });
    const types = async () =>
      (await Promise.all(["c-1", "c-9"].map((id) => store.history(id)))).flatMap(({ events }) =>
        events.map(({ type }) => type),
      );
    const raisedBefore: string[] = [];
    const lookups = { sweep: async () => (raisedBefore.push(...(await types())), 1) };
    const sweeper = sweeperOf(store, { lookups });
    expect(await sweeper.sweep()).toEqual({ overdue: 1, unmatched: 1, lookups: 1 });
    expect(raisedBefore).toEqual([]);
    expect(await types()).toEqual(["payment.unmatched", "payment.overdue"]);
  });

  it("raises what is due although the service gives no answer, in the next sweep too", async () => {
    const store = await storeWith({ webhooks: [waiting("r-1")] });
    let announced!: () => void;
    const untilRaised = () => new Promise<void>((resolve) => (announced = resolve));
    let answer!: (count: number) => void;
    const looking = new Promise<number>((resolve) => (answer = resolve));
    const lookups = { sweep: () => looking };
    const sweeper = sweeperOf(store, { lookups, announceEvents: () => announced() });
    const raised = untilRaised();
    const first = sweeper.sweep();
    expect(sweeper.sweep()).toBe(first);
    await raised;
    await store.transaction((tx) =>
      store.save(tx, { created: [pendingPayment({ ...old, clientId: "c-9" })] }),
    );
    await sweeper.idle();
    const raisedAgain = untilRaised();
    const second = sweeper.sweep();
    await raisedAgain;
    answer(1);
    expect(await first).toEqual({ overdue: 0, unmatched: 1, lookups: 1 });
    expect(await second).toEqual({ overdue: 1, unmatched: 0, lookups: 1 });
  });

  it("is joined also where an earlier sweep has just ended, whose lookups took longer", async () => {
    let [answer, release] = [(_count: number) => {}, () => {}];
    const looking = new Promise<number>((resolve) => (answer = resolve));
    const held = new Promise<void>((resolve) => (release = resolve));
    const matched = jest.fn(() => held).mockResolvedValueOnce();
    const sweeper = sweeperOf(new MemoryStore(), { lookups: { sweep: () => looking }, matched });
    jest.useFakeTimers();
    try {
      const first = sweeper.sweep();
      await jest.advanceTimersByTimeAsync(2000);
      let second = sweeper.sweep();
      for (; second === first; second = sweeper.sweep()) await nextIteration();
      answer(1);
      await first;
      expect(sweeper.sweep()).toBe(second);
      release();
      await second;
    } finally {
      jest.useRealTimers();
    }
  });

  it.each([
    ["an overdue payment", { created: [pendingPayment(old)] }, 0, 1],
    ["a webhook without a payment", { webhooks: [waiting("r-1")] }, 0, 1],
    ["an entry for a person", {}, 1, 1],
    ["nothing", {}, 0, 0],
  ])("wakes the dispatcher once if it raises an event about %s", async (_about, changes, entries, wakes) => {
    const announceEvents = jest.fn();
    const sweeper = sweeperOf(await storeWith(changes), { announceEvents, announce: async () => entries });
    await sweeper.sweep();
    expect(announceEvents).toHaveBeenCalledTimes(wakes);
  });

  it("raises what is due also where the lookups fail, and fails then", async () => {
    const store = await storeWith({ webhooks: [waiting("r-1")] });
    const lookups = { sweep: () => Promise.reject(new Error("no such table")) };
    const sweeper = sweeperOf(store, { lookups });
    await expect(sweeper.sweep()).rejects.toThrow("no such table");
    expect((await store.history("c-1")).events).toMatchObject([{ type: "payment.unmatched" }]);
    expect(sweeper.failure()).toMatchObject({ count: 1, error: { message: "no such table" } });
    await expect(sweeper.sweep()).rejects.toThrow("no such table");
    expect(sweeper.failure()).toMatchObject({ count: 2 });
  });

  it.each<[string, Partial<Record<"matched" | "announce", () => Promise<never>>>, Partial<MemoryStore>]>([
    ["the webhooks that are being matched", { matched: refuse }, {}],
    ["the waiting webhooks", {}, { stray: refuse }],
    ["the overdue payments", {}, { due: refuse }],
    ["the open claims", {}, { notes: refuse }],
    ["the entries for people", { announce: refuse }, {}],
  ])("does its other steps where the store refuses %s, and fails then", async (_, parts, refusing) => {
    const store = await storeWith({
      created: [pendingPayment({ ...old, clientId: "c-9" })],
      webhooks: [waiting("r-1")],
    });
    const [announce, look, announceEvents] = [jest.fn(async () => 0), jest.fn(async () => {}), jest.fn()];
    const lookups = { sweep: jest.fn(async () => 1) };
    const sweeper = sweeperOf(Object.assign(store, refusing), {
      lookups,
      announce,
      announceEvents,
      silence: { look },
      ...parts,
    });
    await expect(sweeper.sweep()).rejects.toThrow("refused");
    expect(sweeper.failure()).toMatchObject({ count: 1, error: { message: "refused" } });
    const types = async (id: string) => (await store.history(id)).events.map(({ type }) => type);
    expect(await types("c-1")).toEqual("stray" in refusing ? [] : ["payment.unmatched"]);
    expect(await types("c-9")).toEqual("due" in refusing ? [] : ["payment.overdue"]);
    expect(lookups.sweep).toHaveBeenCalledTimes(1);
    expect(look).toHaveBeenCalledTimes(1);
    expect(announce).toHaveBeenCalledTimes(parts.announce ? 0 : 1);
    expect(announceEvents).toHaveBeenCalledTimes(1);
  });

  it("reads the next page of open claims each time, and the same page again where the store refused it", async () => {
    const created = Array.from({ length: 20 }, (_, n) =>
      pendingPayment({ clientId: `c-${n}`, reference: `r-${n}`, serviceId: `s-${n}` }),
    );
    const store = await storeWith({ created });
    for (const one of created) await keepClaim(store, one, { number: "MVK-1", at: one.createdAt });
    const notes = store.notes.bind(store);
    const read: (string | undefined)[] = [];
    store.notes = (options) => {
      if (options.kind !== "claim_open") return notes(options);
      return read.push(options.after) === 2 ? refuse() : notes(options);
    };
    const sweeper = sweeperOf(store, {});
    await sweeper.sweep();
    await expect(sweeper.sweep()).rejects.toThrow("refused");
    await sweeper.sweep();
    const [first, second, third] = read;
    expect([first, third]).toEqual([undefined, second]);
    expect(second).toEqual(expect.any(String));
  });

  it("raises the other payments and webhooks where the store refuses one of each, and fails then", async () => {
    const ids = ["c-7", "c-8", "c-9"];
    const store = await storeWith({
      created: ids.map((id) =>
        pendingPayment({ ...old, clientId: id, reference: `r-${id}`, serviceId: `s-${id}` }),
      ),
      webhooks: ["c-1", "c-2", "c-3"].map((id) => {
        const rawBody = Buffer.from(JSON.stringify(completedBody({ clientId: id, id: `s-${id}` })));
        return waiting(`r-${id}`, { clientId: id, rawBody });
      }),
    });
    const save = store.save.bind(store);
    store.save = (tx, changes) => {
      const isRefused = changes.events?.some(({ clientId }) => clientId === "c-2" || clientId === "c-8");
      return isRefused ? refuse() : save(tx, changes);
    };
    await expect(sweeperOf(store, {}).sweep()).rejects.toThrow("refused");
    const types = async (id: string) => (await store.history(id)).events.map(({ type }) => type);
    expect(await Promise.all(["c-1", "c-2", "c-3", ...ids].map(types))).toEqual([
      ["payment.unmatched"],
      [],
      ["payment.unmatched"],
      ["payment.overdue"],
      [],
      ["payment.overdue"],
    ]);
  });

  it("raises the others where a store with small writes refuses as many as it writes in one call", async () => {
    const ids = ["c-5", "c-6", "c-7", "c-8"];
    const store = Object.assign(
      await storeWith({
        created: ids.map((id) =>
          pendingPayment({ ...old, clientId: id, reference: `r-${id}`, serviceId: `s-${id}` }),
        ),
        webhooks: ["c-1", "c-2", "c-3", "c-4"].map((id) => {
          const rawBody = Buffer.from(JSON.stringify(completedBody({ clientId: id, id: `s-${id}` })));
          return waiting(`r-${id}`, { clientId: id, rawBody });
        }),
      }),
      { maxGroup: 3 },
    );
    const save = store.save.bind(store);
    store.save = (tx, changes) => {
      const isFree = changes.events?.every(({ clientId }) => clientId === "c-4" || clientId === "c-8");
      return isFree ? save(tx, changes) : refuse();
    };
    const announceEvents = jest.fn();
    await expect(sweeperOf(store, { maxGroup: 3, announceEvents }).sweep()).rejects.toThrow("refused");
    expect(announceEvents).toHaveBeenCalledTimes(1);
    const types = async (id: string) => (await store.history(id)).events.map(({ type }) => type);
    expect(await Promise.all(["c-1", "c-4", "c-5", "c-8"].map(types))).toEqual([
      [],
      ["payment.unmatched"],
      [],
      ["payment.overdue"],
    ]);
  });

  it("fails where a call of the store never ends, and the next one raises what is due", async () => {
    const store = await storeWith({ created: [pendingPayment(old)] });
    const sweeper = sweeperOf(store, {});
    const due = store.due.bind(store);
    jest.useFakeTimers();
    try {
      store.due = () => new Promise<never>(() => {});
      const failed = sweeper.sweep().catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(59_999);
      expect(sweeper.failure()).toBeUndefined();
      await jest.advanceTimersByTimeAsync(1);
      expect(await failed).toMatchObject({ code: "store_unavailable" });
      expect(sweeper.failure()).toMatchObject({ count: 1 });
    } finally {
      jest.useRealTimers();
      store.due = due;
    }
    expect(await sweeper.sweep()).toMatchObject({ overdue: 1 });
    expect(sweeper.failure()).toBeUndefined();
  });

  it("raises nothing by a clock that may have jumped ahead", async () => {
    const store = await storeWith({
      created: [pendingPayment({ clientId: "c-9", createdAt: now().toISOString() })],
      webhooks: [waiting("r-1", { receivedAt: now().toISOString() })],
    });
    const jumped = () => new Date("2027-11-20T10:00:00.000Z");
    const sweep = (cautiousNow: () => Date) => sweeperOf(store, { now: jumped, cautiousNow }).sweep();
    expect(await sweep(now)).toEqual({ overdue: 0, unmatched: 0, lookups: 0 });
    expect(await sweep(jumped)).toEqual({ overdue: 1, unmatched: 1, lookups: 0 });
  });

  it("raises no webhook before those that are being matched", async () => {
    const store = await storeWith({ webhooks: [waiting("r-1")] });
    const matched = async () => {
      await nextIteration();
      await saved(store, { created: [pendingPayment()] });
    };
    expect(await sweeperOf(store, { matched }).sweep()).toMatchObject({ unmatched: 0 });
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("raises a webhook that came after it looked only in the next sweep, when it was matched once more", async () => {
    const other = Buffer.from(JSON.stringify(completedBody({ clientId: "c-2", id: "s-2" })));
    const webhooks = [waiting("r-1"), waiting("r-2", { clientId: "c-2", rawBody: other })];
    const store = await storeWith({ webhooks });
    showingOneAtFirst(store);
    const payments = shop(store);
    expect(await payments.sweep()).toMatchObject({ unmatched: 1 });
    expect(await payments.sweep()).toMatchObject({ unmatched: 1 });
  });

  it("raises nothing for a waiting webhook that cannot be read any more, and does not look at it again", async () => {
    const store = await storeWith({ webhooks: [waiting("r-1", { rawBody: Buffer.from("{") })] });
    expect(await shop(store).sweep()).toEqual({ overdue: 0, unmatched: 0, lookups: 0 });
    const page = { before: now().toISOString(), limit: 9 };
    expect(await store.transaction((tx) => store.stray(tx, page))).toEqual([]);
    expect((await store.history("c-1")).events).toEqual([]);
  });

  it("ends after 20 pages, however many webhooks and payments there are: the next one continues", async () => {
    const store = new MemoryStore();
    let [dueCalls, strayCalls] = [0, 0];
    store.due = async ({ limit }) => {
      dueCalls += 1;
      return Array<Payment>(limit).fill(pendingPayment(old));
    };
    store.stray = async (_, { limit }) => {
      strayCalls += 1;
      return Array<WebhookRecord>(limit).fill(waiting("r-1"));
    };
    await shop(store).sweep();
    // Each page is read once more under its locks.
    expect([dueCalls, strayCalls]).toEqual([20, 40]);
  });

  it.each([
    ["one overdue payment", { created: [pendingPayment({ ...old, clientId: "c-9" })] }, 1],
    ["one unmatched webhook", { webhooks: [waiting("r-1")] }, 1],
    [
      "one of each",
      { created: [pendingPayment({ ...old, clientId: "c-9" })], webhooks: [waiting("r-1")] },
      2,
    ],
  ])("wakes the handlers for %s, and does not leave it to the next poll", async (_, changes, count) => {
    const store = await storeWith(changes);
    const claim = store.claim.bind(store);
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    const payments = shop(store, { dispatch: { pollMs: 3_600_000 } });
    let handled = 0;
    const all = new Promise<void>((resolve) =>
      payments.onAny(() => {
        if (++handled === count) resolve();
      }),
    );
    await payments.start({ keepAlive: false });
    await polled;
    await payments.sweep();
    await all;
    expect(handled).toBe(count);
  });

  it("is waited for when the kit is closed, also where it fails", async () => {
    const order: string[] = [];
    const sweeperWith = (matched: () => Promise<void>) => sweeperOf(new MemoryStore(), { matched });
    const slow = sweeperWith(async () => {
      for (let turn = 0; turn < 5; turn++) await nextIteration();
      order.push("swept");
    });
    await slow.idle();
    const swept = slow.sweep();
    expect(slow.sweep()).toBe(swept);
    await slow.idle();
    order.push("idle");
    expect(order).toEqual(["swept", "idle"]);
    const failing = sweeperWith(() => Promise.reject(new Error("The disk is gone.")));
    const failed = failing.sweep();
    await failing.idle();
    await expect(failed).rejects.toThrow("gone");
  });
});
