import { MemoryStore, type Changes, type MemoryTx, type SignedField } from "tillkit";
import { testStore } from "tillkit/testing";
import { testOptions } from "../../support/kit.js";
import { resolveOptions } from "../../../src/kit/options/resolve-options.js";

testStore({
  name: "MemoryStore",
  test: it,
  create: async () => new MemoryStore(),
  capabilities: { migrate: false, probe: false },
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

  it("calls the save of a subclass for everything that is recorded", async () => {
    const seen: Changes[] = [];
    class Watched extends MemoryStore {
      override save(tx: MemoryTx, changes: Changes) {
        seen.push(changes);
        return super.save(tx, changes);
      }
    }
    const store = new Watched();
    expect(await store.record({}, () => ({ webhooks: [webhook] }))).toBe(true);
    expect(await store.record({}, () => ({ webhooks: [webhook] }))).toBe(false);
    expect(seen).toHaveLength(2);
    expect(await store.webhooks({ limit: 10 })).toHaveLength(1);
  });

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

  it("shares no object with its callers", async () => {
    const store = new MemoryStore();
    const covers: SignedField[] = ["id", "clientId"];
    const resolution = {
      id: "r-1",
      clientId: "c-1",
      action: "dismissed" as const,
      receiptId: "receipt-1",
      reason: "a test of the provider's",
      by: "ada",
      at: "2026-03-01T10:05:00.000Z",
    };
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
});
