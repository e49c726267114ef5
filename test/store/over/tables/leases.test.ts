import { storeOver, type StoredRecord } from "tillkit";
import { memoryAdapter } from "../memory-adapter.js";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const handlers = [{ event: "payment.overdue", name: "ledger" }] as const;

describe("a lease and a wait of a store over an adapter", () => {
  let now: number;
  let records: Map<string, StoredRecord>;
  let store: ReturnType<typeof open>;
  beforeEach(async () => {
    now = 1_714_557_600_000;
    records = new Map();
    store = open();
    await store.registerHandlers(handlers);
  });

  function open() {
    return storeOver({ ...memoryAdapter(records), now: async () => now });
  }

  const claim = (leaseMs: number, from = store) => from.claim({ handlers, limit: 10, leaseMs });

  /** Saves an event, and returns the run of its first claim. */
  async function leased(leaseMs: number, id = "e1") {
    const event = {
      id,
      type: "payment.overdue",
      recordedAt: "2024-05-01T10:00:00.000Z",
      payload: {},
    } as const;
    await store.transaction((tx) => store.save(tx, { events: [event] }));
    const { fence } = (await claim(leaseMs))[0]!;
    return { eventId: id, handler: "ledger", fence };
  }

  const settle = (settlement: Parameters<typeof store.settle>[1]) =>
    store.transaction((tx) => store.settle(tx, settlement));

  /** Stores the dispatches as an earlier version did, and their due time so much later. */
  function storeAsBefore(laterMs: number): void {
    const before = [...records];
    for (const [key, { version, value }] of before) {
      if (key.startsWith("waits-from/")) records.delete(key);
      if (!key.startsWith("dispatches/") && !key.startsWith("due/")) continue;
      const { waitsFrom: _, dueAt, ...rest } = JSON.parse(value) as Record<"waitsFrom" | "dueAt", number>;
      const later = key.replace(String(dueAt).padStart(16, "0"), String(dueAt + laterMs).padStart(16, "0"));
      records.delete(key);
      records.set(later, { key: later, version, value: JSON.stringify({ ...rest, dueAt: dueAt + laterMs }) });
    }
  }

  it("do not hold new dispatches back, nor those that were given back, whatever the clock says", async () => {
    const run = await leased(hourMs);
    now -= 10 * dayMs;
    await settle({ ...run, fence: 1, state: "released" });
    expect(await claim(hourMs)).toMatchObject([{ fence: 2 }]);
    await leased(hourMs, "e2");
    now -= hourMs / 2;
    await leased(hourMs, "e3");
  });

  it("last as long as the options allow, also for a process that starts meanwhile", async () => {
    await settle({ ...(await leased(hourMs)), state: "failed", retryInMs: 36_525 * dayMs });
    now += 36_524 * dayMs;
    expect(await claim(hourMs, open())).toEqual([]);
    now += dayMs;
    expect(await claim(hourMs, open())).toMatchObject([{ fence: 2, failures: 1 }]);
  });

  it("are over for those that waited, beside any number of new ones", async () => {
    await settle({ ...(await leased(hourMs)), state: "failed", retryInMs: 1000 });
    const events = Array.from({ length: 30 }, (_, n) => ({
      id: `new-${n}`,
      type: "payment.overdue" as const,
      recordedAt: "2024-05-01T10:00:01.000Z",
      payload: {},
    }));
    await store.transaction((tx) => store.save(tx, { events }));
    now += 1000;
    expect(
      (await store.claim({ handlers, limit: 3, leaseMs: hourMs })).map(({ event }) => event.id),
    ).toContain("e1");
  });

  it("hides no oldest event behind any number of others that wait a shorter time, or are new", async () => {
    await settle({ ...(await leased(hourMs)), state: "failed", retryInMs: hourMs });
    const recordedAt = "2024-05-01T10:00:01.000Z";
    const events = Array.from({ length: 2002 }, (_, n) => ({
      id: `new-${n}`,
      type: "payment.overdue" as const,
      recordedAt,
      payload: {},
    }));
    await store.transaction((tx) => store.save(tx, { events }));
    expect(await store.claim({ handlers, limit: 1001, leaseMs: 1000 })).toHaveLength(1001);
    now += 1000;
    expect(await store.counts()).toMatchObject({
      oldestUndoneAt: "2024-05-01T10:00:00.000Z",
      waiting: [{ handler: "ledger", since: recordedAt }],
    });
  });

  it("are over when the clock is before the moment from which they count, and not when it is back a little", async () => {
    const run = await leased(hourMs);
    now -= hourMs;
    expect(await claim(1)).toEqual([]);
    now -= 1;
    expect(await claim(1, open())).toMatchObject([{ fence: 2 }]);
    expect(await settle({ ...run, state: "done" })).toBe(false);
    expect((await store.counts()).oldestUndoneAt).toBeDefined();
  });

  it.each(["failed", "released"] as const)(
    "are over for a %s dispatch when the clock is put back by a day",
    async (state) => {
      await settle({ ...(await leased(10_000)), state, retryInMs: hourMs });
      expect(await claim(1)).toEqual([]);
      now -= dayMs;
      expect(await claim(10_000)).toHaveLength(1);
      expect(await claim(1)).toEqual([]);
    },
  );

  it("last although they were written while a claim was reading", async () => {
    const run = await leased(10_000);
    const adapter = memoryAdapter(records);
    let failing: Promise<unknown> | undefined;
    const slow = storeOver({
      ...adapter,
      now: async () => now,
      async scan(range, tx) {
        // Before the first scan ends, the run fails, and waits for its retry.
        if (!failing) now += 5000;
        await (failing ??= settle({ ...run, state: "failed", retryInMs: 1000 }));
        return adapter.scan(range, tx);
      },
    });
    expect(await claim(1, slow)).toEqual([]);
    now += 1000;
    expect(await claim(1, slow)).toHaveLength(1);
  });

  it("count from a renewal on", async () => {
    const run = await leased(10_000);
    now -= dayMs;
    expect(await store.renew(run, 10_000)).toBe(true);
    expect(await claim(1)).toEqual([]);
    now += 10_000;
    expect(await claim(1)).toHaveLength(1);
  });

  it("leave nothing behind in the indexes when a dispatch is done or dead, and a revived one is due", async () => {
    await settle({ ...(await leased(10_000)), state: "done" });
    await settle({ ...(await leased(10_000, "e2")), state: "dead", error: "no" });
    const kept = [...records.keys()].filter((key) => /^(due|waits-from)\//.test(key));
    expect(kept).toEqual([]);
    await store.dead({ revive: true, limit: 10 });
    expect(await claim(10_000)).toMatchObject([{ fence: 2, attempt: 1 }]);
  });

  it("are kept where an earlier version wrote them, unless they last longer than any option allows", async () => {
    await leased(10_000);
    storeAsBefore(40 * dayMs);
    expect(await claim(1, open())).toEqual([]);
    storeAsBefore(20 * dayMs);
    expect(await claim(10_000, open())).toHaveLength(1);
  });

  it("are found where an earlier version wrote them although the first claim failed, or reached its limit", async () => {
    await leased(10_000);
    await leased(10_000, "e2");
    storeAsBefore(60 * dayMs);
    const adapter = memoryAdapter(records);
    let isAway = true;
    const later = storeOver({
      ...adapter,
      now: async () => now,
      scan: async (range, tx) => {
        if (isAway) throw new Error("The database is away.");
        return adapter.scan(range, tx);
      },
    });
    await expect(claim(10_000, later)).rejects.toMatchObject({ code: "store_unavailable" });
    isAway = false;
    expect(await later.claim({ handlers, limit: 1, leaseMs: 10_000 })).toHaveLength(1);
    expect(await claim(10_000, later)).toHaveLength(1);
  });

  it("of one write are returned although a later write of the same claim fails", async () => {
    const events = Array.from({ length: 20 }, (_, n) => `e${n + 10}`).map((id) => ({
      id,
      type: "payment.overdue" as const,
      recordedAt: "2024-05-01T10:00:00.000Z",
      payload: {},
    }));
    await store.transaction((tx) => store.save(tx, { events }));
    const adapter = memoryAdapter(records);
    let writes = 0;
    const small = storeOver({
      ...adapter,
      now: async () => now,
      maxChanges: 60,
      write: async (changes, tx) => {
        if (++writes === 2) throw new Error("The database is away.");
        return adapter.write(changes, tx);
      },
    });
    const claimed = await small.claim({ handlers, limit: 20, leaseMs: 10_000 });
    expect(claimed).toHaveLength(12);
    expect(await small.claim({ handlers, limit: 20, leaseMs: 10_000 })).toHaveLength(8);
  });

  it("are not counted by a clock that gives no number", async () => {
    const broken = storeOver({ ...memoryAdapter(records), now: async () => NaN });
    await expect(claim(10_000, broken)).rejects.toMatchObject({ code: "adapter_defective" });
  });

  it("end at their time where an earlier version wrote them", async () => {
    const run = await leased(10_000);
    storeAsBefore(0);
    expect(await store.renew(run, 20_000)).toBe(true);
    storeAsBefore(0);
    now += 20_000;
    expect(await claim(1)).toHaveLength(1);
  });

  it("are found without reading the dispatches that wait for a retry", async () => {
    for (let index = 0; index < 30; index++)
      await settle({ ...(await leased(10_000, `w${index}`)), state: "failed", retryInMs: hourMs });
    const adapter = memoryAdapter(records);
    let read = 0;
    const counting = storeOver({
      ...adapter,
      now: async () => now,
      scan: async (range, tx) => {
        const found = await adapter.scan(range, tx);
        read += found.length;
        return found;
      },
    });
    expect(await claim(1, counting)).toEqual([]);
    expect(read).toBe(0);
  });
});

describe("what another process has changed after the index was read", () => {
  const recordedAt = "2024-05-01T10:00:00.000Z";
  let records: Map<string, StoredRecord>;
  let store: ReturnType<typeof open>;
  beforeEach(async () => {
    records = new Map();
    store = open();
    await store.registerHandlers(handlers);
    const events = [{ id: "e1", type: "payment.overdue", recordedAt, payload: {} } as const];
    await store.transaction((tx) => store.save(tx, { events }));
  });

  function open() {
    return storeOver(memoryAdapter(records));
  }

  const claim = (from: typeof store) => from.claim({ handlers, limit: 10, leaseMs: hourMs });
  const run = { eventId: "e1", handler: "ledger", fence: 1 };
  const settle = (state: "done" | "dead") =>
    store.transaction((tx) => store.settle(tx, { ...run, state, error: "no" }));

  /** Returns a store that calls `meanwhile` after its first scan that finds entries. */
  function openWith(meanwhile: () => Promise<unknown>): typeof store {
    const adapter = memoryAdapter(records);
    let isOver = false;
    return storeOver({
      ...adapter,
      async scan(range, tx) {
        const found = await adapter.scan(range, tx);
        if (!isOver && found.length > 0) {
          isOver = true;
          await meanwhile();
        }
        return found;
      },
    });
  }

  it("is not leased, while the lease of the other process lasts", async () => {
    const others: unknown[] = [];
    const slow = openWith(async () => others.push(...(await claim(store))));
    expect(await claim(slow)).toEqual([]);
    expect(others).toMatchObject([{ fence: 1 }]);
    expect(await settle("done")).toBe(true);
  });

  it("is not retired, where the run has ended", async () => {
    await claim(store);
    expect(await openWith(() => settle("done")).retire({ handler: "ledger", limit: 10 })).toBe(0);
    expect(JSON.parse(records.get("dispatches/e1/ledger")!.value)).toMatchObject({ state: "done" });
  });

  it("is not revived, where the other process has revived it", async () => {
    await claim(store);
    await settle("dead");
    const revive = { revive: true, limit: 10 } as const;
    const slow = openWith(() => store.dead({ ...revive, run: "first" }));
    expect(await slow.dead({ ...revive, run: "second" })).toEqual([]);
    expect(await store.revived({ run: "first", limit: 10 })).toHaveLength(1);
  });

  it("is not counted as pruned, where the other process has pruned it", async () => {
    // No handler wants it.
    const events = [{ id: "e2", type: "payment.completed", recordedAt, payload: {} } as const];
    await store.transaction((tx) => store.save(tx, { events }));
    const page = { before: "2024-05-02T00:00:00.000Z", limit: 10 };
    const adapter = memoryAdapter(records);
    let others: unknown;
    const slow = storeOver({
      ...adapter,
      async write(changes, tx) {
        others ??= await store.prune(page);
        return adapter.write(changes, tx);
      },
    });
    expect(await slow.prune(page)).toMatchObject({ events: 0 });
    expect(others).toMatchObject({ events: 1 });
  });
});
