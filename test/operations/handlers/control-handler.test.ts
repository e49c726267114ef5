import { MemoryStore, type Payments, type PaymentStore } from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { event } from "../../../src/store/exam/checks/fixtures.js";
import { until } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

const hourMs = 60 * 60 * 1000;
const by = "Amina";
const pause = { reason: "the accounts are down", by };

const folders: string[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await closeAll();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Returns stores of two processes over the data of one SQLite file. */
function twoStores(): [PaymentStore, PaymentStore] {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-"));
  folders.push(folder);
  const open = () => sqliteStore(path.join(folder, "shop.db")) as PaymentStore;
  return [open(), open()];
}

/** A kit with one handler, and the ids of the events that it has handled. */
async function shop(
  store: PaymentStore,
  { pollMs = 20, ...over }: { pollMs?: number; now?: () => Date } = {},
) {
  const handled: { id: string; attempt: number }[] = [];
  let failure: Error | undefined;
  const payments: Payments = testKit({
    store,
    spool: false,
    dispatch: { pollMs, concurrency: 50 },
    ...over,
  });
  payments.onPaymentCompleted(
    ({ id }, { attempt }) => {
      if (failure) throw failure;
      handled.push({ id, attempt });
    },
    { name: "books" },
  );
  await payments.start({ keepAlive: false });
  const raise = (...ids: string[]) =>
    store.transaction((tx) => store.save(tx, { events: ids.map((id) => event(id)) }));
  const codes = async () => (await payments.health()).reasons.map(({ code }) => code);
  return { payments, handled, raise, codes, fail: (error: Error | undefined) => void (failure = error) };
}

const reaches = (list: readonly unknown[], count: number) =>
  until(async () => (list.length >= count ? true : undefined));

describe("a paused handler", () => {
  it("does not run in any process after a poll, and runs again when it is resumed, in each", async () => {
    const [mine, others] = twoStores();
    const [web, worker] = [await shop(mine), await shop(others)];
    const { payments } = web;
    expect(await payments.pauseHandler("books", pause)).toMatchObject({ changed: true, paused: pause });
    // What the worker claims from then on was read after the pause.
    const read = jest.spyOn(others, "notes");
    await reaches(read.mock.calls, 2);
    const claim = jest.spyOn(others, "claim");
    await web.raise("e1", "e2");
    read.mockClear();
    await reaches(read.mock.calls, 2);
    expect(claim).not.toHaveBeenCalled();
    expect(await payments.handlers()).toMatchObject([{ name: "books", waiting: 2, dead: 0, paused: pause }]);

    expect(await worker.payments.resumeHandler("books", { by: "Said" })).toMatchObject({ changed: true });
    await reaches(
      {
        get length() {
          return web.handled.length + worker.handled.length;
        },
      } as unknown[],
      2,
    );
    const [books] = await payments.handlers();
    expect(books!.paused).toBeUndefined();
    expect(books!.changes).toMatchObject([
      { did: "paused", ...pause },
      { did: "resumed", by: "Said" },
    ]);
  });

  it("tells the second person what the first did, and stays as it is", async () => {
    const { payments } = await shop(new MemoryStore());
    await payments.pauseHandler("books", pause);
    const second = await payments.pauseHandler("books", { reason: "slow", by: "Said" });
    expect(second).toMatchObject({ changed: false, paused: pause });
    await payments.resumeHandler("books", { by });
    expect(await payments.resumeHandler("books", { by: "Said" })).toMatchObject({
      changed: false,
      changes: [{ did: "paused" }, { did: "resumed", by }],
    });
  });

  it("is changed once by one key, also after other changes", async () => {
    const { payments } = await shop(new MemoryStore());
    const click = { ...pause, key: "click-1" };
    expect(await payments.pauseHandler("books", click)).toMatchObject({ changed: true });
    const resumed = { by: "Said", key: "click-2" };
    expect(await payments.resumeHandler("books", resumed)).toMatchObject({ changed: true });
    const again = await payments.pauseHandler("books", click);
    expect(again).toMatchObject({ changed: false, changes: [{ did: "paused" }, { did: "resumed" }] });
    expect(again.paused).toBeUndefined();
    await payments.pauseHandler("books", { ...pause, key: "click-3" });
    expect(await payments.resumeHandler("books", resumed)).toMatchObject({ changed: false, paused: pause });
    const limit = { perSecond: 5, key: "click-4" };
    expect(await payments.limitHandler("books", limit)).toMatchObject({ changed: true, perSecond: 5 });
    await payments.limitHandler("books", { perSecond: null });
    expect(await payments.limitHandler("books", limit)).toMatchObject({ changed: false });
  });

  it("is the only reason of the health, however long its events wait, and other late events are told", async () => {
    let now = Date.parse("2024-05-01T10:00:00Z");
    const store = new MemoryStore() as PaymentStore;
    const { payments, raise, codes } = await shop(store, { now: () => new Date(now) });
    await payments.pauseHandler("books", pause);
    await raise("e1");
    now += hourMs;
    const health = await payments.health();
    expect(health).toMatchObject({
      status: "degraded",
      reasons: [
        {
          code: "handler_paused",
          message: "books was paused by Amina at 2024-05-01T10:00:00.000Z: the accounts are down",
        },
      ],
      handlers: [{ name: "books", paused: pause }],
    });
    await store.registerHandlers([{ event: "payment.overdue", name: "other" }]);
    await store.transaction((tx) => store.save(tx, { events: [event("e2", { type: "payment.overdue" })] }));
    expect(await codes()).toContain("events_late");
  });

  it("uses up no attempt and leaves no dead dispatch in an outage of an hour: every event is handled once", async () => {
    // By hand, TILLKIT_TEST_OUTAGE=50000.
    const count = Number(process.env["TILLKIT_TEST_OUTAGE"] ?? 300);
    let now = Date.now();
    const [store] = twoStores();
    const { payments, handled, codes, fail } = await shop(store, { now: () => new Date(now) });
    fail(new Error("the accounts are down"));
    await payments.pauseHandler("books", pause);
    const ids = Array.from({ length: count }, (_, index) => `c-${index}`);
    for (let at = 0; at < count; at += 500)
      await store.transaction((tx) =>
        store.save(tx, {
          created: ids
            .slice(at, at + 500)
            .map((clientId) => pendingPayment({ clientId, reference: clientId, serviceId: `s-${clientId}` })),
        }),
      );
    for (let at = 0; at < count; at += 50)
      await Promise.all(
        ids
          .slice(at, at + 50)
          .map((clientId) =>
            payments.receiveWebhook(signed(completedBody({ clientId, id: `s-${clientId}` }))),
          ),
      );
    now += hourMs;
    expect(await codes()).toEqual(["handler_paused"]);
    expect(await payments.handlers()).toMatchObject([{ name: "books", waiting: count, dead: 0 }]);

    fail(undefined);
    await payments.resumeHandler("books", { by });
    for (let seen = -1; seen < handled.length && handled.length < count;) {
      seen = handled.length;
      await reaches(handled, Math.min(count, seen + 100));
    }
    expect(new Set(handled.map(({ id }) => id)).size).toBe(count);
    expect(handled).toHaveLength(count);
    expect(handled.filter(({ attempt }) => attempt !== 1)).toEqual([]);
    await until(async () => ((await payments.handlers())[0]!.waiting === 0 ? true : undefined));
    expect(await payments.handlers()).toMatchObject([{ waiting: 0, dead: 0 }]);
  }, 600_000);
});

describe("a limited handler", () => {
  it("runs no more than its number in each second of the clock, over all processes, and catches up when it is removed", async () => {
    let now = Date.parse("2024-05-01T10:00:00Z");
    const clock = { now: () => new Date(now) };
    const [mine, others] = twoStores();
    const [web, worker] = [await shop(mine, clock), await shop(others, clock)];
    const total = () => web.handled.length + worker.handled.length;
    await web.payments.pauseHandler("books", pause);
    await web.payments.limitHandler("books", { perSecond: 4, by });
    const read = jest.spyOn(others, "notes");
    await reaches(read.mock.calls, 2);
    await web.raise(...Array.from({ length: 30 }, (_, index) => `e${index}`));
    await web.payments.resumeHandler("books", { by });
    // Each process may begin with the runs of one second.
    await until(async () => (total() >= 4 ? true : undefined));
    for (let second = 1; second <= 3; second++) {
      now += 1000;
      await until(async () => (total() >= 4 + 4 * second ? true : undefined));
      read.mockClear();
      await reaches(read.mock.calls, 4);
      expect(total()).toBeLessThanOrEqual(8 + 4 * second);
    }
    expect((await web.payments.health()).handlers).toMatchObject([{ name: "books", perSecond: 4 }]);
    expect((await web.payments.health()).reasons.map(({ code }) => code)).not.toContain("handler_paused");
    await web.payments.limitHandler("books", { perSecond: null });
    await until(async () => (total() >= 30 ? true : undefined));
    expect(total()).toBe(30);
  });

  it.each([0.3, 0.6, 0.7, 0.9])("runs again and again with a limit of %d a second", async (perSecond) => {
    let now = Date.parse("2024-05-01T10:00:00Z");
    const store = new MemoryStore() as PaymentStore;
    const { payments, handled, raise } = await shop(store, { now: () => new Date(now) });
    await payments.limitHandler("books", { perSecond });
    await raise("e1", "e2", "e3");
    for (let runs = 1; runs <= 3; runs++) {
      await reaches(handled, runs);
      expect(handled).toHaveLength(runs);
      now += 1000 / perSecond + 1;
    }
  });

  it("goes on immediately after a clock was put back that had been a day ahead", async () => {
    let now = Date.parse("2024-05-02T10:00:00Z");
    const [mine] = twoStores();
    const { payments, handled, raise } = await shop(mine, { now: () => new Date(now) });
    await payments.limitHandler("books", { perSecond: 4, by });
    await raise("e0");
    await until(async () => (handled.length === 1 ? true : undefined));
    now = Date.parse("2024-05-01T10:00:00Z");
    await raise("e1", "e2");
    await until(async () => (handled.length === 3 ? true : undefined));
    expect(handled).toHaveLength(3);
  });

  it("does not keep other handlers back", async () => {
    const store = new MemoryStore() as PaymentStore;
    const { payments, handled, raise } = await shop(store, { now: () => new Date("2024-05-01T10:00:00Z") });
    const mails: string[] = [];
    payments.onPaymentCompleted(({ id }) => void mails.push(id), { name: "mail" });
    await payments.start({ keepAlive: false });
    await payments.limitHandler("books", { perSecond: 0.1 });
    await raise("e1", "e2", "e3");
    await reaches(mails, 3);
    expect(handled).toHaveLength(1);
  });
});

describe("the control of handlers", () => {
  it("refuses an unknown name with the name that was meant, or with those that are known", async () => {
    const { payments } = await shop(new MemoryStore());
    const unknown = {
      code: "handler_unknown",
      message: 'The store has no handler named "boks". Did you mean books?',
    };
    await expect(payments.pauseHandler("boks", pause)).rejects.toMatchObject(unknown);
    await expect(payments.resumeHandler("boks", { by })).rejects.toMatchObject(unknown);
    await expect(payments.limitHandler("x", { perSecond: 1 })).rejects.toMatchObject({
      code: "handler_unknown",
      message: 'The store has no handler named "x". The names are books.',
    });
  });

  it("keeps both changes of two people at the same moment", async () => {
    const { payments } = await shop(new MemoryStore());
    const both = await Promise.all([
      payments.pauseHandler("books", pause),
      payments.limitHandler("books", { perSecond: 5, by: "Said" }),
    ]);
    expect(both).toMatchObject([{ changed: true }, { changed: true }]);
    const [books] = await payments.handlers();
    expect(books).toMatchObject({ paused: pause, perSecond: 5 });
    expect(books!.changes.map(({ did }) => did).toSorted()).toEqual(["limited", "paused"]);
  });

  it("does not leave the handler of this process to the next poll", async () => {
    const store = new MemoryStore();
    const claim = store.claim.bind(store);
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    const { payments, handled, raise } = await shop(store, { pollMs: hourMs });
    await polled;
    await payments.pauseHandler("books", pause);
    await raise("e1");
    await payments.resumeHandler("books", { by });
    await reaches(handled, 1);
    expect(handled).toMatchObject([{ id: "e1" }]);
  });

  it("keeps the last fifty changes", async () => {
    const { payments } = await shop(new MemoryStore());
    for (let n = 1; n <= 51; n++) await payments.limitHandler("books", { perSecond: n });
    const [books] = await payments.handlers();
    expect(books!.changes.map((one) => "perSecond" in one && one.perSecond)).toEqual(
      Array.from({ length: 50 }, (_, n) => n + 2),
    );
  });

  it.each([
    ["a pause without a reason", (kit: Payments) => kit.pauseHandler("books", { reason: " ", by })],
    ["a pause by nobody", (kit: Payments) => kit.pauseHandler("books", { reason: "r", by: "" })],
    ["a misspelt option", (kit: Payments) => kit.pauseHandler("books", { ...pause, untill: 1 } as never)],
    ["a resumption by nobody", (kit: Payments) => kit.resumeHandler("books", {} as never)],
    ["a limit of nothing", (kit: Payments) => kit.limitHandler("books", { perSecond: 0 })],
    ["a limit that is no number", (kit: Payments) => kit.limitHandler("books", { perSecond: "5" as never })],
    ["a limit without a number", (kit: Payments) => kit.limitHandler("books", {} as never)],
  ])("refuses %s, and changes nothing", async (_, control) => {
    const { payments } = await shop(new MemoryStore());
    await expect(control(payments)).rejects.toMatchObject({ code: "option_invalid" });
    expect(await payments.handlers()).toMatchObject([{ name: "books", changes: [] }]);
  });
});
