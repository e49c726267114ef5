import assert from "node:assert/strict";
import { type PaymentStore, type WebhookRecord } from "../../contract.js";
import { at, webhook } from "./fixtures.js";
import { type Checks, concurrently, deferred, rolledBack, same, saved, savedInPieces } from "./steps.js";

/** Checks of `stray`, which returns waiting webhooks that were not raised yet. */
export const strayChecks: Checks = {
  async "stray returns the waiting webhooks that were not raised, oldest first, with every field"(store) {
    const unconfirmed = waiting("k2", 1, { outcome: "unconfirmed", reason: "wait", status: "completed" });
    await saved(store, {
      webhooks: [
        waiting("k1", 2),
        unconfirmed,
        waiting("new", 4),
        webhook("done", { receivedAt: at(1) }),
        waiting("foreign", 1, { outcome: "foreign" }),
      ],
    });
    const found = await store.transaction((tx) => store.stray(tx, { before: at(4), limit: 10 }));
    same(found, [unconfirmed, waiting("k1", 2)]);
    same(await strays(store, at(3), 1), ["k2"]);
    same(await strays(store), ["k2", "k1", "new"]);
  },

  async "a webhook that was raised, dismissed or decided is no longer stray"(store) {
    const keys = ["k1", "k2", "k3", "k4"];
    await saved(store, { webhooks: keys.map((key) => waiting(key, 1)) });
    await saved(store, {
      raised: ["receipt-of-k1", "never seen"],
      dismissed: ["receipt-of-k2"],
      rematched: [{ receiptId: "receipt-of-k3", outcome: "applied", decidedAt: at(2) }],
    });
    same(await strays(store), ["k4"]);
    same((await store.counts()).parked, 2);
    await saved(store, { rematched: [{ receiptId: "receipt-of-k1", outcome: "unconfirmed" }] });
    same(await strays(store), ["k1", "k4"]);
  },

  async "a webhook whose mark as raised is rolled back is still stray"(store) {
    await saved(store, { webhooks: [waiting("k1", 1)] });
    await rolledBack(store, { raised: ["receipt-of-k1"] });
    same(await strays(store), ["k1"]);
  },

  async "concurrent sweeps never get the same stray webhook"(store, another) {
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    const webhooks = keys.map((key) => waiting(key, 1));
    await savedInPieces(store, "webhooks", webhooks);
    const raised: string[] = [];
    const raiseSome = async (one: PaymentStore): Promise<void> => {
      // A store may run this function again, so it must change nothing outside the store.
      const found = await one.transaction(async (tx) => {
        const strays = await one.stray(tx, { before: at(9), limit: 10 });
        await one.save(tx, { raised: strays.map(({ receiptId }) => receiptId) });
        return strays;
      });
      raised.push(...found.map(({ eventKey }) => eventKey));
    };
    await concurrently(4, [store, another], raiseSome);
    for (let rest = 0; rest < 5; rest++) await raiseSome(store);
    same(raised.toSorted(), keys.toSorted());
  },

  async "a webhook may be rematched to an outcome that waits for something else"(store) {
    await saved(store, { webhooks: [waiting("k1", 1, { outcome: "foreign" })] });
    same(await strays(store), []);
    await saved(store, { rematched: [{ receiptId: "receipt-of-k1", outcome: "unmatched" }] });
    same(await strays(store), ["k1"]);
  },

  async "stray does not wait for a webhook that another transaction has locked"(store, another) {
    if (store === another) return;
    await saved(store, { webhooks: [waiting("k1", 1), waiting("k2", 1)] });
    const held = deferred();
    const released = deferred();
    const holding = store.transaction(async (tx) => {
      same((await store.stray(tx, { before: at(9), limit: 1 })).length, 1);
      held.resolve();
      await released.promise;
    });
    await held.promise;
    // A store with one writer begins the other transaction only after the first has ended.
    const others = strays(another);
    released.resolve();
    const found = await others;
    await holding;
    assert.ok(found.length >= 1 && found.length <= 2);
  },
};

function waiting(eventKey: string, minute: number, over: Partial<WebhookRecord> = {}): WebhookRecord {
  return webhook(eventKey, {
    outcome: "unmatched",
    clientId: `of-${eventKey}`,
    receivedAt: at(minute),
    ...over,
  });
}

function strays(store: PaymentStore, before = at(9), limit = 10): Promise<string[]> {
  return store.transaction(async (tx) =>
    (await store.stray(tx, { before, limit })).map(({ eventKey }) => eventKey),
  );
}
