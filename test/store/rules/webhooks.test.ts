import { MemoryStore, type PaymentStore, storeOver } from "tillkit";
import { at, payment, resolution, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../over/memory-adapter.js";

const stores: [name: string, open: () => PaymentStore][] = [
  ["a MemoryStore", () => new MemoryStore()],
  ["a storeOver", () => storeOver(memoryAdapter())],
];

describe.each(stores)("a webhook of %s that a person resolved", (_, open) => {
  it("needs a person again after it was decided again", async () => {
    const store = open();
    const { receiptId } = webhook("k1");
    const unconfirmed = webhook("k1", { outcome: "unconfirmed", clientId: "p1" });
    const dismissal = resolution("r1", { action: "dismissed", receiptId });
    await saved(store, { created: [payment("p1")], webhooks: [unconfirmed], resolutions: [dismissal] });
    expect(await store.webhooks({ need: "unconfirmed", limit: 10 })).toEqual([]);
    await saved(store, { rematched: [{ receiptId, outcome: "mismatch", decidedAt: at(2) }] });
    expect(await store.webhooks({ need: "mismatched", limit: 10 })).toMatchObject([{ receiptId }]);
  });
});
