import { MemoryStore, type Changes, type MemoryTx } from "tillkit";
import { testStore } from "tillkit/testing";
import { testOptions } from "../../support/kit.js";
import { resolveOptions } from "../../../src/options.js";

testStore({ name: "MemoryStore", test: it, create: async () => new MemoryStore() });

describe("MemoryStore", () => {
  it("is refused in production, because it forgets", () => {
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

  it("shows whatever is recorded to a subclass that watches what is saved", async () => {
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

  it("records behind the transactions that are under way, and not in the middle of one", async () => {
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

  it("keeps nothing of a record whose decision throws, and nothing once it is closed", async () => {
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
