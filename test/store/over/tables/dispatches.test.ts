import { setImmediate as nextIteration } from "node:timers/promises";
import { storeOver, type StoredRecord } from "tillkit";
import { event, ledger } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, eventIds, runOf, savedInPieces, settled } from "../../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../memory-adapter.js";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

describe("the dispatches of a store over an adapter", () => {
  let now: number;
  let records: Map<string, StoredRecord>;
  let store: ReturnType<typeof open>;
  beforeEach(async () => {
    now = Date.parse("2026-11-20T10:00:00.000Z");
    records = new Map();
    store = open();
    await store.registerHandlers([ledger]);
  });
  afterEach(() => jest.restoreAllMocks());

  function open(members: Partial<ReturnType<typeof memoryAdapter>> = {}) {
    return storeOver({ ...memoryAdapter(records), now: async () => now, ...members });
  }

  const claim = (leaseMs = 10_000, from = store, limit = 10) => claimed(from, [ledger], { leaseMs, limit });
  const save = (...ids: string[]) =>
    savedInPieces(
      store,
      "events",
      ids.map((id) => event(id)),
    );

  it("wait from the moment on at which they are due", async () => {
    await save("e1");
    const [first] = await claim();
    await settled(store, first!, { state: "failed", retryInMs: 1000, error: "no" });
    const waiting = async () => (await store.counts()).waiting;
    const due = new Date(now + 1000).toISOString();
    now += 999;
    expect(await waiting()).toEqual([]);
    now += 1;
    expect(await waiting()).toEqual([{ handler: "ledger", event: "payment.completed", since: due }]);
    now += dayMs;
    expect(await waiting()).toMatchObject([{ since: due }]);
  });

  it("are claimed in the order in which their events were saved, also by two processes", async () => {
    await save("e3");
    await save("e2");
    now += 1;
    await savedInPieces(open(), "events", [event("e1")]);
    const first = await claim(10_000, store, 1);
    expect(eventIds([...first, ...(await claim())])).toEqual(["e3", "e2", "e1"]);
  });

  it("are all found page by page, also if two processes saved their events in the same millisecond", async () => {
    await save("e2");
    await savedInPieces(open(), "events", [event("e1")]);
    for (const one of await claim()) await settled(store, one, { state: "dead", error: "no" });
    const found: string[] = [];
    for (let after: { eventId: string; handler: string } | undefined; found.length < 3;) {
      const [next] = await store.dead({ revive: false, limit: 1, ...(after && { after }) });
      if (!next) break;
      found.push((after = next).eventId);
    }
    expect(found).toEqual(["e1", "e2"]);
  });

  it("are read only for the page of dead ones that is asked for, behind any number of others", async () => {
    await save(...Array.from({ length: 250 }, (_, index) => `e${100 + index}`));
    for (const one of await claim(10_000, store, 250))
      await settled(store, one, { state: "dead", error: "no" });
    const read = new Set<string>();
    const counting = open({
      read: async (keys, tx) => {
        for (const key of keys) if (key.startsWith("dispatches/")) read.add(key);
        return memoryAdapter(records).read(keys, tx);
      },
    });
    const page = await counting.dead({ revive: false, limit: 1 });
    expect(page).toMatchObject([{ eventId: "e100" }]);
    expect(read.size).toBeLessThan(250);
    const last = { eventId: "e348", handler: "ledger" };
    expect(await counting.dead({ revive: false, limit: 2, after: last })).toMatchObject([
      { eventId: "e349" },
    ]);
    const none = await counting.dead({ revive: false, limit: 1, error: "another" });
    expect(none).toEqual([]);
  });

  it("ended at the time of the database's clock", async () => {
    const events = ["e1", "e2"].map((id) => event(id, { clientId: "p1" }));
    await savedInPieces(store, "events", events);
    const [first] = await claim();
    await settled(store, first!, { state: "done" });
    const settledAt = new Date(now).toISOString();
    now += hourMs;
    await store.retire({ handler: "ledger", limit: 10 });
    const retiredAt = new Date(now).toISOString();
    expect((await store.history("p1")).dispatches).toMatchObject([
      { state: "done", settledAt },
      { state: "retired", settledAt: retiredAt },
    ]);
  });

  it("are claimed beside any number of others that wait longer than any earlier version let them wait", async () => {
    await save("e1", "e2");
    for (const one of await claim()) await settled(store, one, { state: "failed", retryInMs: 60 * dayMs });
    await save("e3");
    const later = open();
    expect(eventIds(await claim(10_000, later, 2))).toEqual(["e3"]);
    expect(await claim(10_000, later, 2)).toEqual([]);
  });

  it("are leased again, as many as one write can take", async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `e${n + 10}`);
    await save(...ids);
    expect(await claim(1000, store, 20)).toHaveLength(20);
    now += 1000;
    const adapter = memoryAdapter(records);
    const sizes: number[] = [];
    const small = open({
      maxChanges: 60,
      async write(changes, tx) {
        sizes.push(changes.length);
        return adapter.write(changes, tx);
      },
    });
    expect(eventIds(await claim(1000, small, 20))).toEqual(ids);
    expect(Math.max(...sizes)).toBe(60);
  });

  it("lease no wrong run where the clock of this machine is put forward, and the adapter has no clock", async () => {
    const clockless = storeOver(memoryAdapter(records));
    await save("e1");
    expect(await claim(hourMs, clockless)).toHaveLength(1);
    const put = Date.now() + dayMs;
    jest.spyOn(Date, "now").mockImplementation(() => put);
    expect(await claim(hourMs, clockless)).toEqual([]);
  });

  it("are not revived twice under one id, although they have died again meanwhile", async () => {
    await save("e1");
    const die = async () => settled(store, (await claim())[0]!, { state: "dead", error: "no" });
    await die();
    const page = { revive: true, run: "run-1", limit: 10 } as const;
    const adapter = memoryAdapter(records);
    let isFound = false;
    const late = open({
      async read(keys, tx) {
        const found = await adapter.read(keys, tx);
        if (!isFound) {
          isFound = true;
          await store.dead(page);
          await die();
        }
        return found;
      },
    });
    expect(await late.dead(page)).toEqual([]);
    expect((await store.counts()).dead).toBe(1);
  });

  describe("that another process claims at the same time", () => {
    /** Returns a store whose first write comes after another process has claimed the first dispatch. */
    async function openLate(onLater: (write: () => Promise<boolean>) => Promise<boolean>) {
      await save("e1", "e2", "e3");
      const adapter = memoryAdapter(records);
      let writes = 0;
      return open({
        async write(changes, tx) {
          writes += 1;
          if (writes === 1) await claim(10_000, store, 1);
          return writes === 1 ? adapter.write(changes, tx) : onLater(() => adapter.write(changes, tx));
        },
      });
    }
    const away = () => Promise.reject(new Error("The database is away."));

    it("are left to it, and the others are leased", async () => {
      const late = await openLate((write) => write());
      expect(eventIds(await claim(10_000, late))).toEqual(["e2", "e3"]);
    });

    it("are returned although one of the others cannot be leased", async () => {
      let calls = 0;
      const late = await openLate((write) => ((calls += 1) === 2 ? away() : write()));
      expect(await claim(10_000, late)).toHaveLength(1);
    });

    it("make the claim fail where the database can no longer be reached", async () => {
      await expect(claim(10_000, await openLate(away))).rejects.toMatchObject({ code: "store_unavailable" });
    });
  });

  describe("whose lease is renewed", () => {
    it("keep it although the transaction of an older run hangs", async () => {
      await save("e1");
      const [old] = await claim(1000);
      let end = () => {};
      const hanging = store.transaction(async (tx) => {
        await store.settle(tx, { ...runOf(old!), state: "done" });
        await new Promise<void>((resolve) => (end = resolve));
      });
      await nextIteration();
      now += 1000;
      const [newest] = await claim(1000);
      expect(await store.renew(runOf(newest!), hourMs)).toBe(true);
      now += 1000;
      expect(await claim()).toEqual([]);
      end();
      await expect(hanging).rejects.toMatchObject({ code: "lease_lost" });
    });

    it("are settled after the last of two renewals", async () => {
      await save("e1");
      const [run] = await claim();
      const adapter = memoryAdapter(records);
      const held: (() => void)[] = [];
      const holds = { read: false, write: true };
      const hold = () => new Promise<void>((resolve) => void held.push(resolve));
      const slow = open({
        async read(keys, tx) {
          if (holds.read) await hold();
          return adapter.read(keys, tx);
        },
        async write(changes, tx) {
          if (holds.write) await hold();
          return adapter.write(changes, tx);
        },
      });
      const go = async (index: number) => {
        held[index]!();
        await nextIteration();
      };
      const first = slow.renew(runOf(run!), 20_000);
      await nextIteration();
      holds.read = true;
      const second = slow.renew(runOf(run!), 30_000);
      await nextIteration();
      holds.read = false;
      // The first one writes and ends, and the second one reads only then.
      await go(0);
      expect(await first).toBe(true);
      await go(1);
      const settling = slow.transaction((tx) => slow.settle(tx, { ...runOf(run!), state: "done" }));
      await nextIteration();
      await go(2);
      expect(await second).toBe(true);
      await nextIteration();
      await go(3);
      expect(await settling).toBe(true);
    });
  });
});
