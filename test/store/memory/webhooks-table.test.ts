import { MemoryStore } from "tillkit";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { rolledBack, saved } from "../../../src/store/exam/checks/steps.js";

const parked = (eventKey: string, clientId?: string) =>
  webhook(eventKey, { outcome: "unmatched", ...(clientId !== undefined && { clientId }) });

describe("webhooks in memory", () => {
  it("that a transaction parks are parked for it and its clientIds, and not yet for others", async () => {
    const store = new MemoryStore();
    const [first, second] = [parked("k1", "p1"), parked("k2", "p1")];
    await saved(store, { webhooks: [first] });
    await store.transaction(async (tx) => {
      await store.save(tx, { webhooks: [parked("k3", "p2"), second, parked("k4")] });
      expect(await store.rematchable(tx, ["p1"])).toEqual([first, second]);
      expect(await store.webhooks({ limit: 10 })).toEqual([first]);
      expect((await store.history("p1")).webhooks).toHaveLength(1);
      expect(await store.counts()).toMatchObject({ parked: 1 });
    });
    expect(await store.counts()).toMatchObject({ parked: 4 });
  });

  it("count the copies of all transactions", async () => {
    const store = new MemoryStore();
    await saved(store, { webhooks: [webhook("k1", { clientId: "p1" })] });
    for (const count of [2, 3]) await saved(store, { copies: [{ eventKey: "k1", count }] });
    expect(await store.webhooks({ limit: 10 })).toMatchObject([{ copies: 5 }]);
    expect((await store.history("p1")).webhooks).toMatchObject([{ copies: 5 }]);
  });

  it("that were rolled back are not found by a sweep", async () => {
    const store = new MemoryStore();
    await saved(store, { webhooks: [parked("k1")] });
    await rolledBack(store, { webhooks: [parked("k2")] });
    const found = await store.transaction((tx) => store.stray(tx, { before: "9999", limit: 10 }));
    expect(found.map(({ eventKey }) => eventKey)).toEqual(["k1"]);
  });

  it("that are parked and matched in one transaction are not parked", async () => {
    const store = new MemoryStore();
    await store.transaction(async (tx) => {
      await store.save(tx, { webhooks: [parked("k1", "p1")] });
      await store.save(tx, { rematched: [{ receiptId: "receipt-of-k1", outcome: "applied" }] });
      expect(await store.rematchable(tx, ["p1"])).toEqual([]);
    });
    expect(await store.transaction((tx) => store.rematchable(tx, ["p1"]))).toEqual([]);
    expect(await store.counts()).toMatchObject({ parked: 0 });
  });
});
