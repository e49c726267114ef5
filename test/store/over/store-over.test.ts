import { type BatchAdapter, storeOver, type Payment, type PaymentStore } from "tillkit";
import { Semaphore } from "../../../src/shared/semaphore.js";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

const recordedAt = "2024-05-01T10:00:00.000Z";
const handlers = [{ event: "payment.overdue", name: "ledger" }] as const;
const claiming = { handlers, limit: 10, leaseMs: 10_000 };

function payment(clientId: string, reference = "order-1"): Payment {
  const total = { value: "1475", currency: "KMF" };
  const state = { state: "open", open: true, createdAt: recordedAt, updatedAt: recordedAt };
  return { clientId, reference, total, ...state } as unknown as Payment;
}

/** Returns a store with one claimed dispatch. */
async function withClaim(adapter = memoryAdapter()) {
  const store = storeOver(adapter);
  await store.registerHandlers(handlers);
  const event = { id: "e1", type: "payment.overdue", recordedAt, payload: {} } as const;
  await store.transaction((tx) => store.save(tx, { events: [event] }));
  const [claim] = await store.claim(claiming);
  const run = { eventId: "e1", handler: "ledger", fence: claim!.fence };
  return { store, run };
}

describe("a store over an adapter", () => {
  it("runs a transaction again after a conflict, and the run sees the other's writes", async () => {
    const adapter = memoryAdapter();
    const [store, other] = [storeOver(adapter), storeOver(adapter)];
    const seen: string[][] = [];
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { references: ["order-1"] });
      seen.push(payments.map(({ clientId }) => clientId));
      if (seen.length === 1)
        await other.transaction((otherTx) => other.save(otherTx, { created: [payment("theirs")] }));
      const { takenClientIds } = await store.save(tx, { created: [payment("ours")] });
      expect(takenClientIds).toEqual(seen.length === 1 ? [] : ["ours"]);
    });
    expect(seen).toEqual([[], ["theirs"]]);
  });

  it("runs a transaction again whose locked payment was changed, although it writes something else", async () => {
    const adapter = memoryAdapter();
    const [store, other] = [storeOver(adapter), storeOver(adapter)];
    await store.transaction((tx) => store.save(tx, { created: [payment("c1")] }));
    const seen: (string | undefined)[] = [];
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: ["c1", "nobody"] });
      seen.push(payments[0]!.status);
      if (seen.length === 1) {
        const updated = [{ ...payment("c1"), status: "submitted" }];
        await other.transaction((otherTx) => other.save(otherTx, { updated }));
      }
      const resolution = { id: "r1", clientId: "c1", action: "dismissed", reason: "-", by: "-" } as const;
      await store.save(tx, { resolutions: [{ ...resolution, at: recordedAt }] });
    });
    expect(seen).toEqual([undefined, "submitted"]);
    expect((await store.find("c1"))?.status).toBe("submitted");
  });

  it("writes nothing in a transaction that only locks", async () => {
    const writes: number[] = [];
    const adapter = memoryAdapter();
    const write: typeof adapter.write = async (changes, tx) => {
      writes.push(changes.length);
      return adapter.write(changes, tx);
    };
    const store = storeOver({ ...adapter, write });
    await store.transaction((tx) => store.save(tx, { created: [payment("c1")] }));
    await store.transaction((tx) => store.lock(tx, { clientIds: ["c1"] }));
    expect(writes).toHaveLength(1);
  });

  it("does not run a handler's transaction again, and rejects with lease_lost", async () => {
    const adapter = memoryAdapter();
    const { store, run } = await withClaim(adapter);
    let runs = 0;
    const settling = store.transaction(async (tx) => {
      runs += 1;
      await store.settle(tx, { ...run, state: "done" });
      const other = storeOver(adapter);
      await other.transaction((otherTx) => other.settle(otherTx, { ...run, state: "released" }));
    });
    await expect(settling).rejects.toMatchObject({ code: "lease_lost" });
    expect(runs).toBe(1);
  });

  it("does not let a renewal make a running settlement fail", async () => {
    const adapter = memoryAdapter();
    const { store, run } = await withClaim(adapter);
    const write = adapter.write.bind(adapter);
    // The renewal has read the dispatch, and writes it after the settlement could have read it.
    adapter.write = async (changes, tx) => {
      adapter.write = write;
      await new Promise(setImmediate);
      return write(changes, tx);
    };
    await store.transaction(async (tx) => {
      const renewal = store.renew(run, 10_000);
      expect(await store.settle(tx, { ...run, state: "done" })).toBe(true);
      expect(await Promise.all([renewal, store.renew(run, 10_000)])).toEqual([true, true]);
    });
    expect((await store.counts()).oldestUndoneAt).toBeUndefined();
  });

  it("keeps the events of two processes apart that come in the same millisecond", async () => {
    const adapter = { ...memoryAdapter(), now: async () => 1_714_557_600_000 };
    const [store, other] = [storeOver(adapter), storeOver(adapter)];
    await store.registerHandlers(handlers);
    const saveAndClaim = async (one: typeof store, id: string) => {
      const event = { id, type: "payment.overdue", recordedAt, payload: {} } as const;
      await one.transaction((tx) => one.save(tx, { events: [event] }));
      return one.claim(claiming);
    };
    const claims = [...(await saveAndClaim(store, "e1")), ...(await saveAndClaim(other, "e2"))];
    expect(claims.map(({ event }) => event.id)).toEqual(["e1", "e2"]);
    for (const { event, handler, fence } of claims) {
      const settlement = { eventId: event.id, handler, fence, state: "dead", error: "no" } as const;
      expect(await store.transaction((tx) => store.settle(tx, settlement))).toBe(true);
    }
    const dead = await other.dead({ revive: false, limit: 10 });
    expect(dead.map(({ eventId }) => eventId).toSorted()).toEqual(["e1", "e2"]);
  });

  it("settles although the renewal waits for the same transaction, where the database runs one at a time", async () => {
    const one = new Semaphore(1);
    const memory = memoryAdapter();
    const adapter = {
      ...memory,
      transaction: <T>(run: Parameters<typeof memory.transaction<T>>[0]) =>
        one.run(() => memory.transaction(run)),
    };
    const { store, run } = await withClaim(adapter);
    let renewal: Promise<boolean> | undefined;
    const settled = await store.transaction(async (tx) => {
      renewal = store.renew(run, 60_000);
      return store.settle(tx, { ...run, state: "done" });
    });
    expect(settled).toBe(true);
    expect(await renewal).toBe(false);
  });

  it("renews a lease although its dispatch was settled in a transaction that had ended", async () => {
    let now = 1_714_557_600_000;
    const { store, run } = await withClaim({ ...memoryAdapter(), now: async () => now });
    const ended = await store.transaction(async (tx) => tx);
    const late = store.settle(ended, { ...run, state: "done" });
    await expect(late).rejects.toMatchObject({ code: "transaction_closed" });
    expect(await store.renew(run, 60_000)).toBe(true);
    now += claiming.leaseMs + 1;
    expect(await store.claim(claiming)).toEqual([]);
  });

  it("rejects with store_unavailable when the database ran the transaction again, and lost the commit", async () => {
    const adapter = memoryAdapter();
    const store = storeOver({
      ...adapter,
      transaction: async (run) => {
        await adapter.transaction(run).catch(() => {});
        await adapter.transaction(run);
        throw new Error("The commit was lost.");
      },
    });
    let runs = 0;
    const running = store.transaction(async () => {
      if (++runs === 1) throw new Error("A conflict of the database.");
    });
    await expect(running).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("tries again after a conflict when the first try took longer than busyTimeoutMs", async () => {
    const adapter = memoryAdapter(new Map());
    let writes = 0;
    const slow: typeof adapter.write = async (changes, tx) => {
      if ((writes += 1) > 1) return adapter.write(changes, tx);
      await new Promise((resolve) => setTimeout(resolve, 60));
      return false;
    };
    const store = storeOver({ ...adapter, write: slow }, { busyTimeoutMs: 50 });
    await store.transaction((tx) => store.save(tx, { created: [payment("c1")] }));
    expect(writes).toBe(2);
  });

  it("rejects with store_busy when others change the same records for busyTimeoutMs", async () => {
    const adapter = { ...memoryAdapter(), write: async () => false };
    const store = storeOver(adapter, { busyTimeoutMs: 20 });
    const saving = store.transaction((tx) => store.save(tx, { created: [payment("c1")] }));
    await expect(saving).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringMatching(
        /for 20 ms: `write` returned false \d+ times, the last time for \S+, .*orders\//,
      ),
      fix: expect.stringContaining("a duplicate in another table"),
    });
  });

  it("rejects with store_busy when a batch adapter always returns false for the application's writes", async () => {
    const { durable, ...memory } = memoryAdapter();
    const adapter: BatchAdapter<string> = {
      durable,
      read: (keys) => memory.read(keys),
      scan: (range) => memory.scan(range),
      write: async () => false,
    };
    const store = storeOver(adapter, { busyTimeoutMs: 20 });
    await expect(store.transaction(async (tx) => tx.add("a row"))).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringMatching(/returned false \d+ times in 20 ms, for the application's writes alone/),
      fix: expect.stringContaining("must reject with `store_conflict`"),
    });
  });

  it("writes nothing after a save was rejected, also where the error is swallowed", async () => {
    const store = storeOver(memoryAdapter());
    const event = { id: "e1", type: "payment.overdue", recordedAt, payload: {} } as const;
    await store.transaction((tx) => store.save(tx, { events: [event] }));
    const swallowing = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("c1")] });
      const clash = store.transaction((inner) => store.save(inner, { events: [event] }));
      await expect(clash).rejects.toMatchObject({ code: "store_conflict" });
      await store.lock(tx, { clientIds: ["c1"] });
      await expect(store.save(tx, { updated: [payment("unknown")] })).rejects.toMatchObject({
        code: "store_conflict",
      });
      const later = store.save(tx, { created: [payment("c2", "order-2")] });
      await expect(later).rejects.toMatchObject({ code: "transaction_poisoned" });
    });
    await expect(swallowing).rejects.toMatchObject({ code: "transaction_poisoned" });
    expect(await store.find("c1")).toBeUndefined();
  });

  it("prunes an event once when two processes prune at the same time", async () => {
    const adapter = memoryAdapter();
    const { store, run } = await withClaim(adapter);
    await store.transaction((tx) => store.settle(tx, { ...run, state: "done" }));
    const page = { before: "2099-01-01T00:00:00.000Z", limit: 10 };
    const pruned = await Promise.all([store, storeOver(adapter)].map((one) => one.prune(page)));
    expect(pruned.map(({ events }) => events).toSorted((a, b) => a - b)).toEqual([0, 1]);
  });

  it("reads old events that must stay in batches, and no more than one call may prune", async () => {
    const adapter = memoryAdapter();
    const store = storeOver(adapter);
    await store.registerHandlers(handlers);
    for (let n = 0; n < 130; n++) {
      const event = { id: `e${100 + n}`, type: n < 60 ? "payment.overdue" : "payment.updated" } as const;
      const events = [{ ...event, recordedAt, payload: {} }];
      await store.transaction((tx) => store.save(tx, { events }));
    }
    const [read, scan] = [jest.spyOn(adapter, "read"), jest.spyOn(adapter, "scan")];
    expect(await store.prune({ before: "2099-01-01T00:00:00.000Z", limit: 1 })).toMatchObject({ events: 1 });
    expect([read.mock.calls.length, scan.mock.calls.length]).toEqual([5, 3]);
  });

  // docs/store-contract.md, "Events at the moment of a registration".
  describe("whose event is written while the handlers change", () => {
    const both = [...handlers, { event: "payment.overdue", name: "mail" }] as const;
    /** Saves an event. The change is made between the read of the handlers and the write. */
    async function saveDuring(
      change: (store: PaymentStore<MemoryTransaction>) => Promise<unknown>,
      adapter = memoryAdapter(),
    ) {
      const other = storeOver(adapter);
      await other.registerHandlers(handlers);
      const write: typeof adapter.write = async (changes, tx) => {
        await change(other);
        return adapter.write(changes, tx);
      };
      const store = storeOver({ ...adapter, write });
      const event = { id: "e1", type: "payment.overdue", recordedAt, payload: {} } as const;
      await store.transaction((tx) => store.save(tx, { events: [event] }));
      return other;
    }

    it("gives a new handler its dispatch of that event, and of none before, with the next registration", async () => {
      const adapter = memoryAdapter();
      const [store, earlier] = [
        storeOver(adapter),
        { id: "e0", type: "payment.overdue", recordedAt, payload: {} } as const,
      ];
      await store.registerHandlers(handlers);
      await store.transaction((tx) => store.save(tx, { events: [earlier] }));
      const other = await saveDuring((registering) => registering.registerHandlers(both), adapter);
      const claim = async () =>
        (await other.claim({ ...claiming, handlers: both })).map(({ event, handler }) => [event.id, handler]);
      expect(await claim()).toEqual([
        ["e0", "ledger"],
        ["e1", "ledger"],
      ]);
      await other.registerHandlers(both);
      expect(await claim()).toEqual([["e1", "mail"]]);
      await other.registerHandlers(both);
      expect(await claim()).toEqual([]);
    });

    it("leaves a dispatch of a retired name, which the next call retires", async () => {
      const retire = { handler: "ledger", limit: 10 };
      const store = await saveDuring((other) => other.retire(retire));
      const page = { before: "2099-01-01T00:00:00.000Z", limit: 10 };
      expect(await store.prune(page)).toMatchObject({ events: 0 });
      expect(await store.retire(retire)).toBe(1);
      expect(await store.prune(page)).toMatchObject({ events: 1 });
    });
  });

  it("retires nothing that another process retired and pruned meanwhile", async () => {
    const adapter = memoryAdapter();
    const { store: other } = await withClaim(adapter);
    let isFaster = true;
    const scan: typeof adapter.scan = async (range, tx) => {
      const found = await adapter.scan(range, tx);
      if (isFaster) {
        isFaster = false;
        await other.retire({ handler: "ledger", limit: 10 });
        await other.prune({ before: "2099-01-01T00:00:00.000Z", limit: 10 });
      }
      return found;
    };
    const store = storeOver({ ...adapter, scan });
    expect(await store.retire({ handler: "ledger", limit: 10 })).toBe(0);
  });

  it("does not revive a dispatch that another process revived and did meanwhile", async () => {
    const adapter = memoryAdapter();
    const { store: other, run } = await withClaim(adapter);
    await other.transaction((tx) => other.settle(tx, { ...run, state: "dead" }));
    let isFaster = true;
    let revived: unknown[] = [];
    const scan: typeof adapter.scan = async (range, tx) => {
      const found = await adapter.scan(range, tx);
      if (isFaster) {
        isFaster = false;
        revived = await other.dead({ revive: true, limit: 10 });
        const [claim] = await other.claim(claiming);
        const again = { ...run, fence: claim!.fence };
        await other.transaction((tx) => other.settle(tx, { ...again, state: "done" }));
      }
      return found;
    };
    const store = storeOver({ ...adapter, scan });
    expect(await store.dead({ revive: true, limit: 10 })).toEqual([]);
    expect(revived).toHaveLength(1);
    expect(await other.claim(claiming)).toEqual([]);
  });

  it("lists every payment once, in the order of their clientIds, also where these have a colon", async () => {
    const store = storeOver(memoryAdapter());
    const ids = ["order.1", "order10:1", "order1:1", "order1:10", `order1:${":".repeat(57)}`, "orderA:1"];
    const created = ids.toReversed().map((id) => payment(id, `r-${id}`));
    await store.transaction((tx) => store.save(tx, { created }));
    for (const newestFirst of [false, true]) {
      const seen: string[] = [];
      let page = await store.list({ newestFirst, limit: 1 });
      while (page.length > 0 && seen.length < 10) {
        seen.push(...page.map(({ clientId }) => clientId));
        page = await store.list({ newestFirst, limit: 1, after: page[0]! });
      }
      expect(seen).toEqual(newestFirst ? ids.toReversed() : ids);
    }
  });

  it.each([
    ["slashes", "a/b", "a%2Fb"],
    ["spaces", "a b", "a  b"],
    ["emoji", "😀", "😁"],
    ["half surrogates", "\ud800", "\ud801"],
    ["300 characters", "x".repeat(300), `${"x".repeat(299)}y`],
  ])("keeps ids with %s apart, under keys of printable ASCII", async (_, first, second) => {
    const adapter = memoryAdapter();
    const store = storeOver(adapter);
    const created = [payment(first, `r-${first}`), payment(second, `r-${second}`)];
    await store.transaction((tx) => store.save(tx, { created }));
    expect([(await store.find(first))?.clientId, (await store.find(second))?.clientId]).toEqual([
      first,
      second,
    ]);
    const records = await adapter.scan({ from: "!", to: "~~~", limit: 1000, reverse: false });
    expect(records.length).toBeGreaterThan(4);
    expect(records.filter(({ key }) => !/^[!-~]{1,500}$/.test(key))).toEqual([]);
  });
});
