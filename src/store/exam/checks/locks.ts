import { type LockKeys, type PaymentStore } from "../../payment-store.js";
import { type Exam, saved } from "./exam.js";
import { payment, webhook } from "./fixtures.js";
import { same } from "./same.js";

export function lockChecks<Tx>({ check }: Exam<Tx>): void {
  check(
    "lock finds a payment by clientId, service id or reference, with all attempts of its order",
    async (store) => {
      await someOrders(store);
      const attempts = ["p1", "p2", "p3"];
      same(await lockedIds(store, { clientIds: ["p1"] }), attempts);
      same(await lockedIds(store, { serviceIds: ["s2"] }), attempts);
      same(await lockedIds(store, { references: ["order-1"] }), attempts);
      same(await lockedIds(store, { clientIds: ["p4"], references: ["order-1"] }), [...attempts, "p4"]);
    },
  );

  check(
    "lock answers each payment once, in clientId order, and skips keys that name nothing",
    async (store) => {
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
  );

  check("lock takes more keys than one statement may carry", async (store) => {
    await someOrders(store);
    const many = Array.from({ length: 2000 }, (_, index) => `nobody-${index}`);
    same(await lockedIds(store, { clientIds: [...many, "p4"], eventKeys: many }), ["p4"]);
  });

  check("lock again in one transaction sees the transaction's own writes", async (store) => {
    await someOrders(store);
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p4"], eventKeys: ["k1"] });
      await store.save(tx, {
        updated: [payment("p4", { status: "submitted" })],
        created: [payment("p5", { reference: "order-of-p4", open: false })],
        webhooks: [webhook("k1")],
      });
      const again = await store.lock(tx, { clientIds: ["p4"], eventKeys: ["k1"] });
      same(
        again.payments.map(({ clientId, status }) => [clientId, status]),
        [
          ["p4", "submitted"],
          ["p5", undefined],
        ],
      );
      same(again.eventKeys, ["k1"]);
    });
  });

  check("lock answers which of the asked eventKeys are recorded", async (store) => {
    await saved(store, { webhooks: [webhook("k1"), webhook("k2"), webhook("k3")] });
    const { eventKeys, payments } = await store.transaction((tx) =>
      store.lock(tx, { eventKeys: ["k3", "k0", "k1", "K2"] }),
    );
    same(eventKeys.toSorted(), ["k1", "k3"]);
    same(payments, []);
  });

  check(
    "transactions that lock the same orders by different keys do not deadlock",
    async (store, another) => {
      const ids = ["a", "b", "c", "d", "e"];
      await saved(store, { created: ids.map((id) => payment(id, { serviceId: `s-${id}` })) });
      const runs = Array.from({ length: 20 }, (_, index) => {
        const mine = index % 2 === 0 ? store : another;
        const turned = [...ids.slice(index % 5), ...ids.slice(0, index % 5)];
        const keys: LockKeys[] = [
          { clientIds: turned },
          { references: turned.map((id) => `order-of-${id}`) },
          { serviceIds: turned.map((id) => `s-${id}`) },
        ];
        return mine.transaction(async (tx) => (await mine.lock(tx, keys[index % 3]!)).payments.length);
      });
      same(
        await Promise.all(runs),
        Array.from({ length: 20 }, () => 5),
      );
    },
  );

  check("whoever waited for an order sees the attempt that was added meanwhile", async (store, another) => {
    await saved(store, { created: [payment("p2", { reference: "order-1" })] });
    let second: Promise<string[]> | undefined;
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p2"] });
      second = lockedIds(another, { clientIds: ["p2"] });
      await store.save(tx, {
        updated: [payment("p2", { reference: "order-1", open: false })],
        created: [payment("p1", { reference: "order-1" })],
      });
    });
    same(await second, ["p1", "p2"]);
  });
}

async function someOrders<Tx>(store: PaymentStore<Tx>): Promise<void> {
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

async function lockedIds<Tx>(store: PaymentStore<Tx>, keys: LockKeys): Promise<string[]> {
  const { payments } = await store.transaction((tx) => store.lock(tx, keys));
  return payments.map(({ clientId }) => clientId);
}
