import { MemoryStore, type Changes, type MemoryTx, type SignedField } from "tillkit";
import { testStore } from "tillkit/testing";
import { testOptions } from "../../support/kit.js";
import { resolveOptions } from "../../../src/kit/options/resolve-options.js";

const committed = new Set<string>();

testStore({
  name: "MemoryStore",
  test: it,
  create: async () => new MemoryStore(),
  probe: {
    write: (tx, key) => tx.onCommit(() => committed.add(key)),
    has: async (key) => committed.has(key),
  },
});

describe("MemoryStore", () => {
  it("is refused in production, because it loses its data at exit", () => {
    const options = testOptions({ store: new MemoryStore() });
    expect(() => resolveOptions(options, { NODE_ENV: "production" })).toThrow(
      expect.objectContaining({ code: "store_not_durable" }),
    );
  });

  const webhook: NonNullable<Changes["webhooks"]>[number] = {
    receiptId: "receipt-1",
    eventKey: "payment:1",
    outcome: "unmatched",
    rawBody: Buffer.from("{}"),
    covers: "body",
    receivedAt: "2026-03-01T10:00:00.000Z",
  };

  it.each([[["transaction"]], [["lock"]], [["save"]], [["transaction", "lock", "save"]]] as const)(
    "calls %j of a subclass for everything that is recorded",
    async (overridden) => {
      const store = new MemoryStore();
      const seen: string[] = [];
      for (const step of overridden) {
        const own = (...args: never[]) => {
          seen.push(step);
          return (MemoryStore.prototype[step] as (...args: never[]) => never).apply(store, args);
        };
        Object.assign(store, { [step]: own });
      }
      expect(await store.record({}, () => ({ webhooks: [webhook] }))).toBe(true);
      expect(await store.record({}, () => ({ webhooks: [webhook] }))).toBe(false);
      expect(seen).toEqual([...overridden, ...overridden]);
      expect(await store.webhooks({ limit: 10 })).toHaveLength(1);
      const refused = store.record({}, () => ({ updated: [payment] }));
      await expect(refused).rejects.toMatchObject({ code: "store_conflict" });
    },
  );

  it("records after the transactions that run, and not in the middle of one", async () => {
    const store = new MemoryStore();
    const order: string[] = [];
    let end = () => {};
    const slow = store.transaction(async () => {
      await new Promise<void>((resolve) => (end = resolve));
      order.push("transaction");
    });
    await new Promise(setImmediate);
    const recorded = store.record({ eventKeys: ["payment:1"] }, () => {
      order.push("decided");
      return { webhooks: [webhook] };
    });
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    end();
    await Promise.all([slow, recorded]);
    expect(order).toEqual(["transaction", "decided"]);
  });

  const payment: NonNullable<Changes["created"]>[number] = {
    clientId: "c-1",
    reference: "order-1",
    total: { value: "1475", currency: "KMF" },
    state: "pending",
    open: true,
    createdAt: "2026-03-01T09:59:00.000Z",
    updatedAt: "2026-03-01T09:59:00.000Z",
  };
  const save = (store: MemoryStore, changes: Changes) =>
    store.transaction((tx) => store.save(tx, changes).then(() => undefined));

  it("refuses a transaction's end that swallowed a refusal, and says which one it was", async () => {
    const store = new MemoryStore();
    const swallowed = store.transaction(async (tx) => {
      await store.save(tx, { webhooks: [webhook] });
      await store.save(tx, { updated: [payment] }).catch(() => {});
    });
    const poisoned = { code: "transaction_poisoned", cause: { code: "store_conflict" } };
    await expect(swallowed).rejects.toMatchObject(poisoned);
    expect(await store.webhooks({ limit: 10 })).toEqual([]);
  });

  it("refuses every call with a transaction that has ended", async () => {
    const store = new MemoryStore();
    const ended = await store.transaction(async (tx) => tx);
    const late = [
      () => store.lock(ended, {}),
      () => store.save(ended, { webhooks: [webhook] }),
      () => store.settle(ended, { eventId: "e1", handler: "ledger", fence: 1, state: "done" }),
      () => store.rematchable(ended, ["c-1"]),
      () => store.stray(ended, { before: webhook.receivedAt, limit: 1 }),
    ];
    for (const call of late) await expect(call()).rejects.toMatchObject({ code: "transaction_closed" });
    await save(store, { created: [payment] });
    expect(await store.webhooks({ limit: 10 })).toEqual([]);
  });

  describe("a handler's transaction", () => {
    /** Runs a handler, and returns what it wrote, with the number of transactions that were open before its end. */
    const runs = (store: MemoryStore, notes: string[], finish: () => Promise<void>) => {
      const written: string[] = [];
      const begin = jest.spyOn(store, "transaction");
      let open = -1;
      const handle = async (tx: MemoryTx) => {
        for (const text of notes) tx.onCommit(() => written.push(text));
        await new Promise(setImmediate);
        expect(written).toEqual([]);
        open = begin.mock.calls.length;
      };
      return { ended: store.runHandler(handle, finish), written, open: () => open };
    };

    it.each([
      ["is not opened before its end without a write", [], 0],
      ["is opened once for many writes, which run at the commit", ["first", "second"], 1],
    ])("%s", async (_, notes, count) => {
      const { ended, written, open } = runs(new MemoryStore(), notes, async () => {});
      await ended;
      expect([open(), written]).toEqual([count, notes]);
    });

    it("runs no write where it is rolled back, or cannot be opened", async () => {
      const store = new MemoryStore();
      const rejected = runs(store, ["rolled back"], () => Promise.reject(new Error("no")));
      await expect(rejected.ended).rejects.toThrow("no");
      await store.close();
      const closed = runs(store, ["too late"], async () => {});
      await expect(closed.ended).rejects.toMatchObject({ code: "store_closed" });
      expect([...rejected.written, ...closed.written]).toEqual([]);
    });
  });

  it("is unchanged when a change cannot be copied", async () => {
    const store = new MemoryStore();
    await save(store, { created: [payment] });
    const uncopied = { ...payment, metadata: { write: () => undefined } };
    const refused = store.transaction(async (tx) => {
      await store.save(tx, { webhooks: [webhook] });
      await store.save(tx, { updated: [uncopied] });
    });
    await expect(refused).rejects.toMatchObject({ name: "DataCloneError" });
    await save(store, { webhooks: [{ ...webhook, receiptId: "receipt-2", eventKey: "payment:2" }] });
    expect(await store.webhooks({ limit: 10 })).toMatchObject([{ receiptId: "receipt-2" }]);
    expect(await store.find("c-1")).toEqual(payment);
  });

  it("frees a service id that one transaction bound and gave up", async () => {
    const store = new MemoryStore();
    const other = { ...payment, clientId: "c-2", reference: "order-2" };
    await save(store, { created: [payment, other] });
    await store.transaction(async (tx) => {
      await store.save(tx, { updated: [{ ...payment, serviceId: "s-1" }] });
      await store.save(tx, { updated: [{ ...payment, serviceId: "s-2" }] });
    });
    await save(store, { updated: [{ ...other, serviceId: "s-1" }] });
    expect(await store.findMany({ serviceIds: ["s-1"] })).toMatchObject([{ clientId: "c-2" }]);
  });

  it("frees a service id that a transaction bound before it was rolled back", async () => {
    const store = new MemoryStore();
    const other = { ...payment, clientId: "c-2", reference: "order-2" };
    await save(store, { created: [payment] });
    const rolledBack = store.transaction(async (tx) => {
      await store.save(tx, { updated: [{ ...payment, serviceId: "s-1" }] });
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    await save(store, { created: [{ ...other, serviceId: "s-1" }] });
    expect(await store.findMany({ serviceIds: ["s-1"] })).toMatchObject([{ clientId: "c-2" }]);
  });

  const resolution = {
    id: "r-1",
    clientId: "c-1",
    action: "dismissed" as const,
    receiptId: "receipt-1",
    reason: "a test of the provider's",
    by: "ada",
    at: "2026-03-01T10:05:00.000Z",
  };

  it("shares no object with its callers", async () => {
    const store = new MemoryStore();
    const covers: SignedField[] = ["id", "clientId"];
    await save(store, { webhooks: [{ ...webhook, clientId: "c-1", covers }], resolutions: [resolution] });
    covers.push("source");
    const [kept] = await store.webhooks({ limit: 1 });
    (kept!.covers as SignedField[]).push("topic");
    const before = await store.history("c-1");
    Object.assign(before.resolutions[0]!, { reason: "another" });
    const { webhooks, resolutions } = await store.history("c-1");
    expect(webhooks).toMatchObject([{ covers: ["id", "clientId"] }]);
    expect(resolutions).toEqual([resolution]);
  });

  it("shares no part of a payment with its callers", async () => {
    const store = new MemoryStore();
    const verified: ("status" | "captured")[] = ["status"];
    const full = {
      ...payment,
      metadata: { nested: { basket: 1 } },
      reported: { status: "submitted", at: payment.createdAt, verified },
      service: { createdAt: payment.createdAt },
    };
    const expected = structuredClone(full);
    await save(store, { created: [full] });
    const change = (one: typeof full) => {
      one.total.value = "1";
      one.metadata.nested.basket = 2;
      one.reported.status = "completed";
      one.reported.verified.push("captured");
      one.service.createdAt = "never";
    };
    change(full);
    change((await store.find("c-1")) as typeof full);
    expect(await store.find("c-1")).toEqual(expected);
  });

  it("stores a resolution once, also in one transaction", async () => {
    const store = new MemoryStore();
    const twice = store.transaction(async (tx) => {
      await store.save(tx, { resolutions: [resolution] });
      await store.save(tx, { resolutions: [resolution] });
    });
    await expect(twice).rejects.toMatchObject({ code: "store_conflict" });
    expect((await store.history("c-1")).resolutions).toEqual([]);
  });

  it("forgets a resolution whose transaction was rolled back", async () => {
    const store = new MemoryStore();
    const rolledBack = store.transaction(async (tx) => {
      await store.save(tx, { resolutions: [resolution] });
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    await save(store, { webhooks: [{ ...webhook, clientId: "c-1" }] });
    expect((await store.history("c-1")).resolutions).toEqual([]);
  });

  it("shows the newest 1,000 records of each kind in a history, with all dispatches of the events", async () => {
    const store = new MemoryStore();
    await store.registerHandlers(["ledger", "mailer"].map((name) => ({ event: "*", name })));
    const numbers = Array.from({ length: 1001 }, (_, index) => 1000 + index);
    const recordedAt = payment.createdAt;
    await save(store, {
      webhooks: numbers.map((n) => ({
        ...webhook,
        receiptId: `r-${n}`,
        eventKey: `k-${n}`,
        clientId: "c-1",
      })),
      resolutions: numbers.map((n) => ({ ...resolution, id: `r-${n}` })),
      events: numbers.map((n) => ({
        id: `e-${n}`,
        type: "payment.overdue",
        clientId: "c-1",
        recordedAt,
        payload: {},
      })),
    });
    const { webhooks, events, dispatches, resolutions } = await store.history("c-1");
    for (const shown of [webhooks, events, resolutions]) expect(shown).toHaveLength(1000);
    expect(dispatches).toHaveLength(2000);
    const last = [
      webhooks.at(-1)!.receiptId,
      events.at(-1)!.id,
      dispatches.at(-1)!.eventId,
      resolutions.at(-1)!.id,
    ];
    expect(last).toEqual(["r-2000", "e-2000", "e-2000", "r-2000"]);
  });

  it("stores nothing of a record whose decision throws, and nothing after it was closed", async () => {
    const store = new MemoryStore();
    const broken = store.record({}, () => {
      throw new Error("no decision");
    });
    await expect(broken).rejects.toThrow("no decision");
    expect(await store.webhooks({ limit: 10 })).toEqual([]);
    await store.close();
    const late = store.record({}, () => ({ webhooks: [webhook] }));
    await expect(late).rejects.toMatchObject({ code: "store_closed" });
  });

  it("is closed when its last transaction has ended", async () => {
    const store = new MemoryStore();
    let end = () => {};
    const slow = store.transaction(async (tx) => {
      await new Promise<void>((resolve) => (end = resolve));
      await store.save(tx, { created: [payment] });
    });
    await new Promise(setImmediate);
    let isClosed = false;
    const closing = store.close().then(() => (isClosed = true));
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    end();
    await Promise.all([slow, closing]);
  });

  it("shares no note with its callers", async () => {
    const store = new MemoryStore();
    const value = { by: "Amina" };
    await save(store, { notes: [{ kind: "handler", id: "a", version: 0, value }] });
    const [note] = await store.notes({ kind: "handler" });
    Object.assign(note!.value, { by: "another" });
    expect(await store.notes({ kind: "handler" })).toMatchObject([{ value }]);
  });
});
