import { at, payment, resolution, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { keptInMemory } from "./kept-in-memory.js";

describe.each(keptInMemory)("a webhook of %s", (_, open) => {
  it("that a person resolved needs a person again after it was decided again", async () => {
    const store = open();
    const { receiptId } = webhook("k1");
    const unconfirmed = webhook("k1", { outcome: "unconfirmed", clientId: "p1" });
    const dismissal = resolution("r1", { action: "dismissed", receiptId });
    await saved(store, { created: [payment("p1")], webhooks: [unconfirmed], resolutions: [dismissal] });
    expect(await store.webhooks({ need: "unconfirmed", limit: 10 })).toEqual([]);
    await saved(store, { rematched: [{ receiptId, outcome: "mismatch", decidedAt: at(2) }] });
    expect(await store.webhooks({ need: "mismatched", limit: 10 })).toMatchObject([{ receiptId }]);
  });

  it("keeps its bytes while it waits for its payment, or for a person", async () => {
    const store = open();
    const outcomes = ["unmatched", "unconfirmed", "mismatch", "inadmissible", "applied", "stale"] as const;
    await saved(store, { webhooks: outcomes.map((outcome) => webhook(outcome, { outcome })) });
    expect(await store.prune({ before: at(59), limit: 10 })).toMatchObject({ webhooks: 2 });
    const kept = (await store.webhooks({ limit: 10 })).filter(({ rawBody }) => rawBody.length > 0);
    expect(new Set(kept.map(({ outcome }) => outcome))).toEqual(new Set(outcomes.slice(0, 4)));
  });

  it("waits no longer after a person dismissed it", async () => {
    const store = open();
    const waiting = webhook("k1", { outcome: "unmatched", clientId: "p1" });
    await saved(store, { webhooks: [waiting] });
    expect(await store.counts()).toMatchObject({ parked: 1, needs: { unmatched: 1 } });
    await saved(store, { dismissed: [waiting.receiptId] });
    const counts = await store.counts();
    expect([counts.parked, counts.needs]).toEqual([0, undefined]);
  });

  it("is on one page only, also where several arrived at the same time", async () => {
    const store = open();
    await saved(store, { webhooks: ["k1", "k2", "k3"].map((eventKey) => webhook(eventKey)) });
    const first = await store.webhooks({ limit: 2 });
    const second = await store.webhooks({ limit: 2, after: first[1]! });
    expect([...first, ...second].map(({ eventKey }) => eventKey)).toEqual(["k1", "k2", "k3"]);
    expect(second).toHaveLength(1);
  });
});
