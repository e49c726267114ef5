import { MemoryStore, type EventRecord, type Payment, type PaymentStore } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { onEachStore } from "./each-store.js";

const start = Date.parse("2026-11-20T12:00:00.000Z");
const hourMs = 3_600_000;
const own = (clientId: string, over: Partial<Payment> = {}): Payment =>
  pendingPayment({ clientId, reference: `o-${clientId}`, serviceId: `s-${clientId}`, ...over });
const late = { state: "completed", status: "completed", open: false, attention: "paid_late" } as const;

/** Returns what was announced of a payment: each event without `attention.`, with its entry and how it was closed. */
async function told(store: PaymentStore, clientId: string): Promise<string[]> {
  const { events } = await store.history(clientId);
  return events
    .filter(({ type }) => type.startsWith("attention."))
    .map(({ type, payload }) => {
      const { entry, how } = payload as unknown as { entry: { rule: string }; how?: string };
      return [type.slice("attention.".length), entry.rule, ...(how === undefined ? [] : [how])].join(" ");
    });
}

/** Makes a process with a handler of one of the events. Its clock is `ahead` of the start. */
function listening<Kit extends ReturnType<typeof testKit>>(kit: Kit): Kit {
  kit.on("attention.opened", () => {}, { name: "chat" });
  return kit;
}

onEachStore("the events about what needs a person", (bench) => {
  let ahead = 0;
  const now = () => new Date(start + ahead);
  const process = () => listening(bench.shop({ now }));
  const seed = (...created: Payment[]) => bench.store.transaction((tx) => bench.store.save(tx, { created }));
  beforeEach(() => void (ahead = 0));

  it("tell each opening and each closing once, by any of two processes, also where one had read it before the other told that it is closed", async () => {
    const [one, two] = [process(), process()];
    await seed(own("c-1"), own("c-2", late), own("c-3", { ...late, attention: "paid_twice" }));
    await keepClaim(bench.store, own("c-1"), { number: "MVK-1", at: now().toISOString() });
    const sweep = async () => {
      await Promise.all([one.sweep(), two.sweep()]);
      // The first of two that write in one moment may be the one that had read less.
      await one.sweep();
    };
    await sweep();
    expect(await told(bench.store, "c-1")).toEqual(["opened claimed"]);
    expect(await told(bench.store, "c-2")).toEqual(["opened paid_late"]);
    const { events } = await bench.store.history("c-1");
    expect(events.at(-1)?.payload).toMatchObject({
      entry: {
        id: "claimed:c-1",
        why: expect.stringContaining("MVK-1"),
        next: expect.any(String),
        version: 0,
      },
      payment: { clientId: "c-1", reference: "o-c-1" },
    });

    await one.receiveWebhook(signed(completedBody({ clientId: "c-1", id: "s-c-1" })));
    ahead = 2 * hourMs;
    const settling = { action: "settle", by: "Amina", reason: "delivered" } as const;
    await two.attend("paid_late:c-2", settling);
    await one.resolve({ action: "refunded", clientId: "c-3", by: "Said", reason: "paid back" });
    await sweep();
    await sweep();
    expect(await told(bench.store, "c-1")).toEqual(["opened claimed", "closed claimed gone"]);
    expect(await told(bench.store, "c-2")).toEqual(["opened paid_late", "closed paid_late settled"]);
    expect(await told(bench.store, "c-3")).toEqual(["opened paid_twice", "closed paid_twice gone"]);
    const closed = (await bench.store.history("c-2")).events.at(-1)!;
    expect(closed.payload).toMatchObject({
      entry: {
        id: "paid_late:c-2",
        why: expect.stringContaining("before"),
      },
      how: "settled",
      by: "Amina",
      reason: "delivered",
      payment: { clientId: "c-2" },
    });
    expect(closed.payload["afterMs"]).toBeGreaterThanOrEqual(2 * hourMs);
    expect(await bench.store.notes({ kind: "attention_told" })).toEqual([]);

    await seed(own("c-4", late));
    await sweep();
    const notes = two.store.notes.bind(two.store);
    two.store.notes = async (options) => {
      if (options.kind === "attention_told" && options.ids?.includes("paid_late:c-4")) {
        two.store.notes = notes;
        await one.attend("paid_late:c-4", settling);
        await one.sweep();
      }
      return notes(options);
    };
    await two.sweep();
    await sweep();
    expect(await told(bench.store, "c-4")).toEqual(["opened paid_late", "closed paid_late settled"]);
  });

  it("close no entry that is too young for another process, whose unmatchedAfterMs is longer", async () => {
    const [early, later] = [60_000, 2 * hourMs].map((unmatchedAfterMs) =>
      listening(bench.shop({ now, unmatchedAfterMs })),
    ) as [ReturnType<typeof process>, ReturnType<typeof process>];
    await early.receiveWebhook(signed(completedBody()));
    ahead = hourMs;
    for (const one of [early, later, early]) await one.sweep();
    expect(await told(bench.store, "c-1")).toEqual(["opened unmatched"]);
    await later.adopt({ clientId: "c-1", reference: "o-1", total: { value: "1475", currency: "KMF" } });
    await later.sweep();
    expect(await told(bench.store, "c-1")).toEqual(["opened unmatched", "closed unmatched gone"]);
  });

  it("remind once after the time of the option, and once when the time of a snooze is over", async () => {
    const payments = process();
    await seed(own("c-1", late));
    const at = async (hours: number) => {
      ahead = hours * hourMs;
      await payments.sweep();
      await payments.sweep();
      return (await told(bench.store, "c-1")).filter((text) => text.startsWith("reminder")).length;
    };
    expect(await at(0)).toBe(0);
    expect(await at(23)).toBe(0);
    expect(await at(24)).toBe(1);
    expect(await at(100)).toBe(1);
    const until = new Date(now().getTime() + 10 * hourMs);
    await payments.attend("paid_late:c-1", { action: "snooze", until, by: "Amina", reason: "calls back" });
    expect(await at(109)).toBe(1);
    expect(await at(110)).toBe(2);
    expect(await at(500)).toBe(2);
    expect(await told(bench.store, "c-1")).toHaveLength(3);
  });

  it("are told about all other entries where the store refuses those about one payment", async () => {
    const payments = process();
    const twice = { ...late, attention: "paid_twice" } as const;
    await seed(own("c-1", late), own("c-2", late), own("c-3", twice));
    const save = payments.store.save.bind(payments.store);
    payments.store.save = (tx, changes) =>
      changes.events?.some(({ clientId }) => clientId === "c-1")
        ? Promise.reject(new Error("refused"))
        : save(tx, changes);
    await expect(payments.sweep()).rejects.toThrow("refused");
    const all = () => Promise.all(["c-1", "c-2", "c-3"].map((id) => told(bench.store, id)));
    await payments.sweep().catch(() => {});
    expect(await all()).toEqual([[], ["opened paid_late"], ["opened paid_twice"]]);
    payments.store.save = save;
    await payments.sweep();
    await payments.sweep();

    payments.store.save = (tx, changes) =>
      changes.events?.some(({ type }) => type === "attention.closed")
        ? Promise.reject(new Error("refused"))
        : save(tx, changes);
    const settling = { action: "settle", by: "Amina", reason: "delivered" } as const;
    await payments.attend("paid_late:c-1", settling);
    await seed(own("c-4", late));
    await expect(payments.sweep()).rejects.toThrow("refused");
    await payments.sweep().catch(() => {});
    expect(await told(bench.store, "c-4")).toEqual(["opened paid_late"]);
    payments.store.save = save;
    await payments.sweep();
    await payments.sweep();
    expect(await told(bench.store, "c-1")).toEqual(["opened paid_late", "closed paid_late settled"]);
  });

  it("are told by the next sweep where a write fails, each of them once", async () => {
    const payments = process();
    await seed(own("c-1", late));
    const save = payments.store.save.bind(payments.store);
    let failures = 1;
    payments.store.save = (tx, changes) =>
      changes.notes && failures-- > 0
        ? save(tx, changes).then(() => Promise.reject(new Error("The disk is full.")))
        : save(tx, changes);
    await expect(payments.sweep()).rejects.toThrow("full");
    expect(await told(bench.store, "c-1")).toEqual([]);
    await payments.sweep();
    payments.store.save = save;
    await process().sweep();
    expect(await told(bench.store, "c-1")).toEqual(["opened paid_late"]);
  });
});

describe("the events about what needs a person, in a process", () => {
  afterEach(closeAll);
  const storeWith = async (...created: Payment[]) => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created }));
    return store;
  };

  it("cost nothing where no handler has their names, also none for every event", async () => {
    const store = await storeWith(own("c-1", late));
    const payments = testKit({ store });
    payments.onAny(() => {});
    const kinds: string[] = [];
    const notes = store.notes.bind(store);
    store.notes = (options) => (kinds.push(options.kind), notes(options));
    await payments.sweep();
    expect(kinds).toEqual(["claim_open"]);
    expect(await told(store, "c-1")).toEqual([]);
  });

  it("tell a dispatch that is dead again, and a handler that is paused, with what failed", async () => {
    const store = await storeWith(own("c-1"));
    const payments = listening(testKit({ store, dispatch: { maxFailures: 1, pollMs: 10 } }));
    payments.onPaymentCompleted(() => Promise.reject(new Error("no paper")), { name: "printer" });
    await payments.start();
    for (let times = 1; times <= 2; times++) {
      const died = new Promise((resolve) => payments.on("dispatch.dead", resolve));
      if (times === 1) await payments.receiveWebhook(signed(completedBody({ clientId: "c-1", id: "s-c-1" })));
      else await payments.replayDispatches({ dryRun: false });
      await died;
      await payments.sweep();
    }
    expect(await told(store, "c-1")).toEqual([
      "opened dead_dispatch",
      "closed dead_dispatch gone",
      "opened dead_dispatch",
    ]);
    const events: EventRecord[] = [];
    const save = store.save.bind(store);
    store.save = (tx, changes) => (events.push(...(changes.events ?? [])), save(tx, changes));
    await payments.pauseHandler("printer", { reason: "no paper", by: "Said" });
    await payments.sweep();
    await payments.resumeHandler("printer", { by: "Said" });
    await payments.sweep();
    expect(events.map(({ type }) => type)).toEqual(["attention.opened", "attention.closed"]);
    expect(events[0]?.payload).toMatchObject({
      entry: { why: "The handler printer is paused by Said: no paper" },
    });
  });

  it("tell a dispatch that a person settled once, and again when it has died again", async () => {
    const store = await storeWith(own("c-1"));
    const payments = listening(testKit({ store, dispatch: { maxFailures: 1, pollMs: 10 } }));
    payments.onPaymentCompleted(() => Promise.reject(new Error("no paper")), { name: "printer" });
    const died = () => new Promise((resolve) => payments.on("dispatch.dead", resolve));
    const first = died();
    await payments.start();
    await payments.receiveWebhook(signed(completedBody({ clientId: "c-1", id: "s-c-1" })));
    await first;
    await payments.sweep();
    const [entry] = (await payments.attention({ rule: "dead_dispatch" })).entries;
    await payments.attend(entry!.id, { action: "settle", by: "Amina", reason: "printed by hand" });
    const once = ["opened dead_dispatch", "closed dead_dispatch settled"];
    for (let sweeps = 0; sweeps < 2; sweeps++) await payments.sweep();
    expect(await told(store, "c-1")).toEqual(once);
    expect((await payments.history("c-1")).attention).toEqual([]);
    const second = died();
    await payments.replayDispatches({ dryRun: false });
    await second;
    for (let sweeps = 0; sweeps < 2; sweeps++) await payments.sweep();
    expect(await told(store, "c-1")).toEqual([...once, "opened dead_dispatch"]);
  });

  it("leave open what is too young for another process that sweeps", async () => {
    let at = start;
    const store = await storeWith();
    const shop = (unmatchedAfterMs: number) =>
      listening(testKit({ store, unmatchedAfterMs, now: () => new Date(at) }));
    const [one, other] = [shop(60_000), shop(hourMs)];
    await one.receiveWebhook(signed(completedBody({ clientId: "c-9", id: "s-9" })));
    at += 61_000;
    await one.sweep();
    await other.sweep();
    expect(await told(store, "c-9")).toEqual(["opened unmatched"]);
  });

  it("skip an entry of a rule that only a later version of the kit has", async () => {
    const store = await storeWith(own("c-1", late));
    const id = "later_rule:c-1";
    const value = { id, rule: "later_rule", subject: "c-1", since: "", why: "", toldAt: "" };
    const note = { kind: "attention_told", id, version: 0, value };
    await store.transaction((tx) => store.save(tx, { notes: [note] }));
    for (let sweeps = 0; sweeps < 2; sweeps++) await listening(testKit({ store })).sweep();
    expect(await told(store, "c-1")).toEqual(["opened paid_late"]);
    expect(await store.notes({ kind: "attention_told", ids: [id] })).toHaveLength(1);
  });

  it("reach their handlers without the next poll", async () => {
    const store = await storeWith(own("c-1", late));
    const claim = store.claim.bind(store);
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    const payments = testKit({ store, dispatch: { pollMs: hourMs } });
    const opened = new Promise((resolve) =>
      payments.on("attention.opened", ({ entry }) => resolve(entry.id)),
    );
    await payments.start({ keepAlive: false });
    await polled;
    await payments.sweep();
    expect(await opened).toBe("paid_late:c-1");
  });

  it("are told within a few sweeps where 1,200 are open, and all are closed within as many", async () => {
    const ids = Array.from({ length: 1200 }, (_, index) => `c-${index}`);
    const store = await storeWith(...ids.map((id) => own(id, late)));
    const payments = listening(testKit({ store }));
    const count = async () => (await store.notes({ kind: "attention_told" })).length;
    const counts: number[] = [];
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      await payments.sweep();
      counts.push(await count());
    }
    expect(counts).toEqual([500, 1000, 1200]);
    await store.transaction(async (tx) => {
      const { payments: stored } = await store.lock(tx, { clientIds: ids });
      await store.save(tx, { updated: stored.map(({ attention: _, ...rest }) => rest) });
    });
    const closed: number[] = [];
    for (let sweeps = 0; sweeps < 4; sweeps++) {
      const before = await count();
      await payments.sweep();
      closed.push(before - (await count()));
    }
    expect(await count()).toBe(0);
    expect(Math.max(...closed)).toBe(500);
    expect(await told(store, "c-1199")).toEqual(["opened paid_late", "closed paid_late gone"]);
  });

  it("are told behind a full page in which the store refuses one, both openings and closings", async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `c-${index + 100}`);
    const store = await storeWith(...ids.map((id) => own(id, late)));
    const payments = listening(testKit({ store }));
    const save = store.save.bind(store);
    const refuseOne = () => {
      store.save = (tx, changes) =>
        changes.events?.some(({ clientId }) => clientId === "c-100")
          ? Promise.reject(new Error("refused"))
          : save(tx, changes);
    };
    refuseOne();
    await expect(payments.sweep()).rejects.toThrow("refused");
    await payments.sweep();
    expect(await told(store, "c-249")).toEqual(["opened paid_late"]);
    store.save = save;
    await payments.sweep();

    await store.transaction(async (tx) => {
      const { payments: stored } = await store.lock(tx, { clientIds: ids });
      await store.save(tx, { updated: stored.map(({ attention: _, ...rest }) => rest) });
    });
    refuseOne();
    await expect(payments.sweep()).rejects.toThrow("refused");
    await payments.sweep();
    expect(await told(store, "c-249")).toEqual(["opened paid_late", "closed paid_late gone"]);
  });

  it("have the payment of their entry, also where an earlier entry was announced before", async () => {
    const store = await storeWith(own("c-1", late));
    const payments = listening(testKit({ store }));
    await payments.sweep();
    await store.transaction((tx) => store.save(tx, { created: [own("c-2", late)] }));
    await payments.sweep();
    const { events } = await store.history("c-2");
    expect(events.map(({ payload }) => payload)).toMatchObject([
      { entry: { id: "paid_late:c-2" }, payment: { clientId: "c-2" } },
    ]);
  });

  it("tell a closing behind a full page of entries that stay open", async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `c-${index + 100}`);
    const store = await storeWith(...ids.map((id) => own(id, late)));
    const payments = listening(testKit({ store }));
    await payments.sweep();
    await payments.resolve({ action: "dismiss", clientId: "c-249", by: "Amina", reason: "delivered" });
    for (let sweeps = 0; sweeps < 2; sweeps++) await payments.sweep();
    expect(await told(store, "c-249")).toEqual(["opened paid_late", "closed paid_late gone"]);
    expect(await told(store, "c-100")).toEqual(["opened paid_late"]);
  });
});

describe("a clock that jumps forward", () => {
  afterEach(async () => {
    jest.restoreAllMocks();
    await closeAll();
  });

  it("opens no entry for a webhook that has just arrived", async () => {
    const store = new MemoryStore();
    const payments = listening(testKit({ store, now: () => new Date(Date.now()) }));
    await payments.receiveWebhook(signed(completedBody()));
    const real = Date.now;
    jest.spyOn(Date, "now").mockImplementation(() => real() + 2 * hourMs);
    await payments.sweep();
    expect(await told(store, "c-1")).toEqual([]);
    // The time is trusted an hour after the jump.
    const monotonic = performance.now.bind(performance);
    jest.spyOn(performance, "now").mockImplementation(() => monotonic() + hourMs + 1000);
    jest.spyOn(Date, "now").mockImplementation(() => real() + 3 * hourMs + 1000);
    await payments.sweep();
    expect(await told(store, "c-1")).toEqual(["opened unmatched"]);
  });

  it("reminds of no entry before its time", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [own("c-1", late)] }));
    const payments = listening(testKit({ store, now: () => new Date(Date.now()) }));
    await payments.sweep();
    const [real, monotonic] = [Date.now, performance.now.bind(performance)];
    jest.spyOn(Date, "now").mockImplementation(() => real() + 25 * hourMs);
    await payments.sweep();
    expect(await told(store, "c-1")).toEqual(["opened paid_late"]);
    jest.spyOn(performance, "now").mockImplementation(() => monotonic() + hourMs + 1000);
    jest.spyOn(Date, "now").mockImplementation(() => real() + 26 * hourMs + 1000);
    await payments.sweep();
    expect(await told(store, "c-1")).toEqual(["opened paid_late", "reminder paid_late"]);
  });
});
