import assert from "node:assert/strict";
import { type PaymentStore, type WebhookRecord } from "../../payment-store.js";
import { type Exam, saved, signal } from "./exam.js";
import { webhook } from "./fixtures.js";
import { same } from "./same.js";

const may = (day: number): string => `2024-05-${String(day).padStart(2, "0")}T10:00:00.000Z`;

function waiting(eventKey: string, day: number, over: Partial<WebhookRecord> = {}): WebhookRecord {
  return webhook(eventKey, {
    outcome: "unmatched",
    clientId: `of-${eventKey}`,
    receivedAt: may(day),
    ...over,
  });
}

export function strayChecks<Tx>({ check, has }: Exam<Tx>): void {
  if (!has("stray")) return;
  const strays = (store: PaymentStore<Tx>, before: string, limit = 10): Promise<string[]> =>
    store.transaction(async (tx) =>
      (await store.stray!(tx, { before, limit })).map(({ eventKey }) => eventKey),
    );

  check("stray answers waiting webhooks that nobody was told of, oldest first and whole", async (store) => {
    const unconfirmed = waiting("k2", 1, { outcome: "unconfirmed", reason: "wait", status: "completed" });
    await saved(store, {
      webhooks: [
        waiting("k1", 2),
        unconfirmed,
        waiting("new", 4),
        webhook("done", { receivedAt: may(1) }),
        waiting("foreign", 1, { outcome: "foreign" }),
      ],
    });
    same(await store.transaction((tx) => store.stray!(tx, { before: may(3), limit: 10 })), [
      unconfirmed,
      waiting("k1", 2),
    ]);
    same(await strays(store, may(3), 1), ["k2"]);
    same(await strays(store, may(9)), ["k2", "k1", "new"]);
  });

  check("what was raised, dismissed or decided is stray no more", async (store) => {
    const keys = ["k1", "k2", "k3", "k4"];
    await saved(store, { webhooks: keys.map((key) => waiting(key, 1)) });
    await saved(store, {
      raised: ["receipt-of-k1", "never seen"],
      dismissed: ["receipt-of-k2"],
      rematched: [{ receiptId: "receipt-of-k3", outcome: "applied", decidedAt: may(2) }],
    });
    same(await strays(store, may(9)), ["k4"]);
    if (store.counts) same((await store.counts()).parked, 2);
    await saved(store, { rematched: [{ receiptId: "receipt-of-k1", outcome: "unconfirmed" }] });
    same(await strays(store, may(9)), ["k1", "k4"]);
  });

  check("a mark that is rolled back was never made", async (store) => {
    await saved(store, { webhooks: [waiting("k1", 1)] });
    const run = store.transaction(async (tx) => {
      await store.save(tx, { raised: ["receipt-of-k1"] });
      throw new Error("no");
    });
    await assert.rejects(run, /no/);
    same(await strays(store, may(9)), ["k1"]);
  });

  check("two sweeps at once never get the same stray to tell of", async (store, another) => {
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await saved(store, { webhooks: keys.map((key) => waiting(key, 1)) });
    const told: string[] = [];
    const raiseSome = async (one: PaymentStore<Tx>): Promise<void> => {
      await one.transaction(async (tx) => {
        const found = await one.stray!(tx, { before: may(9), limit: 10 });
        await one.save(tx, { raised: found.map(({ receiptId }) => receiptId) });
        told.push(...found.map(({ eventKey }) => eventKey));
      });
    };
    await Promise.all([store, another, store, another].map(raiseSome));
    for (let rest = 0; rest < 5; rest++) await raiseSome(store);
    same(told.toSorted(), keys.toSorted());
  });

  check("rematching a webhook to where it waits for something else is allowed", async (store) => {
    await saved(store, { webhooks: [waiting("k1", 1, { outcome: "foreign" })] });
    same(await strays(store, may(9)), []);
    await saved(store, { rematched: [{ receiptId: "receipt-of-k1", outcome: "unmatched" }] });
    same(await strays(store, may(9)), ["k1"]);
  });

  check("a stray that is locked by a transaction is not waited for", async (store, another) => {
    if (store === another) return;
    await saved(store, { webhooks: [waiting("k1", 1), waiting("k2", 1)] });
    const held = signal();
    const release = signal();
    const holding = store.transaction(async (tx) => {
      same((await store.stray!(tx, { before: may(9), limit: 1 })).length, 1);
      held.give();
      await release.given;
    });
    await held.given;
    // A store with one writer lets the other transaction begin only when the first has ended.
    const others = strays(another, may(9));
    release.give();
    const found = await others;
    await holding;
    assert.ok(found.length >= 1 && found.length <= 2);
  });
}
