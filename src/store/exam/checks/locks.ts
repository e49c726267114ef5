import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { type LockKeys, type PaymentStore } from "../../contract.js";
import { payment, webhook } from "./fixtures.js";
import { type Checks, clientIds, concurrently, same, saved } from "./steps.js";

/** Checks of `lock`: the payments that it finds, and the transactions that wait for it. */
export const lockChecks: Checks = {
  async "lock finds a payment by clientId, service id or reference, with all attempts of its order"(store) {
    await someOrders(store);
    const attempts = ["p1", "p2", "p3"];
    same(await lockedIds(store, { clientIds: ["p1"] }), attempts);
    same(await lockedIds(store, { serviceIds: ["s2"] }), attempts);
    same(await lockedIds(store, { references: ["order-1"] }), attempts);
    same(await lockedIds(store, { clientIds: ["p4"], references: ["order-1"] }), [...attempts, "p4"]);
  },

  async "lock by a clientId and the service id of another payment finds both payments, with their orders"(
    store,
  ) {
    await someOrders(store);
    await saved(store, { created: [payment("p5", { serviceId: "s5" })] });
    for (const serviceIds of [["s2"], ["s5", "s2"]])
      for (const eventKeys of [[], ["k1"]]) {
        const keys = { clientIds: ["p5"], serviceIds, eventKeys };
        same(await lockedIds(store, keys), ["p1", "p2", "p3", "p5"]);
      }
    same(await lockedIds(store, { clientIds: ["p4"], serviceIds: ["s5"] }), ["p4", "p5"]);
  },

  async "lock returns each payment once, in clientId order, and skips keys that name nothing"(store) {
    await someOrders(store);
    const keys = {
      clientIds: ["p3", "nobody", "p1", "p1"],
      references: ["order-1", "no such order"],
      serviceIds: ["s2", "no such id"],
    };
    same(await lockedIds(store, keys), ["p1", "p2", "p3"]);
    same(await lockedIds(store, { clientIds: ["nobody", "'; --", "%", ""] }), []);
    same(await lockedIds(store, {}), []);
    same(await lockedIds(store, { clientIds: [], references: [], serviceIds: [] }), []);
  },

  async "lock takes more keys than one statement may carry"(store) {
    await someOrders(store);
    const many = Array.from({ length: 2000 }, (_, index) => `nobody-${index}`);
    same(await lockedIds(store, { clientIds: [...many, "p4"], eventKeys: many }), ["p4"]);
  },

  async "a second lock in one transaction sees the transaction's own writes"(store) {
    await someOrders(store);
    const keys = { clientIds: ["p4"], eventKeys: ["k1"] };
    await store.transaction(async (tx) => {
      await store.lock(tx, keys);
      await store.save(tx, {
        updated: [payment("p4", { status: "submitted" })],
        created: [payment("p5", { reference: "order-of-p4", open: false })],
        webhooks: [webhook("k1")],
      });
      const { payments, eventKeys } = await store.lock(tx, keys);
      same(clientIds(payments), ["p4", "p5"]);
      same([payments[0]?.status, payments[1]?.status], ["submitted", undefined]);
      same(eventKeys, ["k1"]);
      await store.save(tx, { updated: [payment("p4", { status: "completed" })] });
    });
    same((await store.find("p4"))?.status, "completed");
  },

  async "lock returns which of the given eventKeys are stored"(store) {
    await saved(store, { webhooks: [webhook("k1"), webhook("k2"), webhook("k3")] });
    const { eventKeys, payments } = await store.transaction((tx) =>
      store.lock(tx, { eventKeys: ["k3", "k0", "k1", "K2"] }),
    );
    same(eventKeys.toSorted(), ["k1", "k3"]);
    same(payments, []);
  },

  async "transactions that lock the same orders by different keys do not deadlock"(store, another) {
    const ids = ["a", "b", "c", "d", "e"];
    await saved(store, { created: ids.map((id) => payment(id, { serviceId: `s-${id}` })) });
    const counts = await concurrently(20, [store, another], (mine, index) => {
      const turned = [...ids.slice(index % 5), ...ids.slice(0, index % 5)];
      const keys: LockKeys[] = [
        { clientIds: turned },
        { references: turned.map((id) => `order-of-${id}`) },
        { serviceIds: turned.map((id) => `s-${id}`) },
      ];
      return mine.transaction(async (tx) => (await mine.lock(tx, keys[index % 3]!)).payments.length);
    });
    same(counts, Array(20).fill(5));
  },

  async "a transaction that writes after another one sees the attempt that was added meanwhile"(
    store,
    another,
  ) {
    const reference = "order-1";
    await saved(store, { created: [payment("p2", { reference, open: false })] });
    let second: Promise<string[]> | undefined;
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p2"] });
      // This transaction waits for the first one, or has to run again after it.
      second ??= another.transaction(async (other) => {
        const { payments } = await another.lock(other, { clientIds: ["p2"] });
        const seen = clientIds(payments);
        await another.save(other, {
          updated: [payment("p2", { reference, open: false, status: seen.join() })],
        });
        return seen;
      });
      await delay(50);
      await store.save(tx, { created: [payment("p1", { reference })] });
    });
    const seen = await second!;
    // If the second transaction did not wait, it must have the effect of one that ran first.
    const found = (await store.find("p2"))?.status;
    same(found, seen.join());
    same(await lockedIds(store, { clientIds: ["p2"] }), ["p1", "p2"]);
  },

  async "a transaction that locks a payment and writes something else runs before or after one that changes it, or as if it did"(
    store,
    another,
  ) {
    await saved(store, { created: [payment("p1")] });
    let changing: Promise<boolean> | undefined;
    const sawChange = await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: ["p1"] });
      changing ??= another.transaction(async (other) => {
        await another.lock(other, { clientIds: ["p1"] });
        const { eventKeys } = await another.lock(other, { eventKeys: ["k1"] });
        await another.save(other, { updated: [payment("p1", { status: "changed" })] });
        return eventKeys.length > 0;
      });
      // The delay gives the other transaction time to do something wrong.
      await delay(50);
      await store.save(tx, { webhooks: [webhook("k1")] });
      return payments[0]!.status === "changed";
    });
    const sawWebhook = await changing;
    assert.notEqual(sawChange, sawWebhook, "neither of the two sees the other, or both do");
  },
};

async function someOrders(store: PaymentStore): Promise<void> {
  const reference = "order-1";
  await saved(store, {
    created: [
      payment("p3", { reference }),
      payment("p1", { reference, open: false }),
      payment("p2", { reference, open: false, serviceId: "s2" }),
      payment("p4"),
      payment("P1", { reference: "ORDER-1", serviceId: "S2" }),
    ],
  });
}

async function lockedIds(store: PaymentStore, keys: LockKeys): Promise<string[]> {
  const { payments } = await store.transaction((tx) => store.lock(tx, keys));
  return clientIds(payments);
}
