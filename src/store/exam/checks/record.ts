import assert from "node:assert/strict";
import { type Locked, type PaymentStore } from "../../payment-store.js";
import { type Exam, saved } from "./exam.js";
import { event, payment, webhook } from "./fixtures.js";
import { same } from "./same.js";

/** Recording in one go is optional: a store that has it must have it right. */
export function recordChecks<Tx>({ check }: Exam<Tx>): void {
  check("record locks, decides and saves as one, and resolves after the commit", async (store, another) => {
    for (const [index, one] of [store, another].entries()) {
      if (!one.record) continue;
      const [id, sibling] = [`p${index}`, `sibling-of-p${index}`];
      const reference = `order-${index}`;
      await saved(store, {
        created: [
          payment(id, { reference, serviceId: `s-${id}` }),
          payment(sibling, { reference, open: false }),
        ],
        webhooks: [webhook(`known-${index}`)],
      });
      let found: Locked | undefined;
      const keys = { serviceIds: [`s-${id}`], eventKeys: [`known-${index}`, `new-${index}`] };
      const isRecorded = await one.record(keys, (locked) => {
        found = locked;
        return {
          updated: [payment(id, { reference, serviceId: `s-${id}`, state: "completed", open: false })],
          webhooks: [webhook(`new-${index}`)],
          copies: [{ eventKey: `known-${index}`, count: 2 }],
          events: [event(`e${index}`)],
        };
      });
      same(isRecorded, true);
      same(found?.payments.map(({ clientId }) => clientId).toSorted(), [id, sibling]);
      same(found?.eventKeys, [`known-${index}`]);
      const seenBy = one === store ? another : store;
      same((await seenBy.find(id))?.state, "completed");
      same(await recorded(seenBy, [`new-${index}`]), [`new-${index}`]);
    }
  });

  check("record writes one row or many, and nothing where nothing was decided", async (store, another) => {
    for (const [index, one] of [store, another].entries()) {
      if (!one.record) continue;
      for (const count of [0, 1, 2, 30]) {
        const ids = Array.from({ length: count }, (_, n) => `p-${index}-${count}-${n}`);
        await saved(store, { created: ids.map((id) => payment(id)) });
        const isRecorded = await one.record({ clientIds: ids }, ({ payments }) => ({
          updated: payments.map((each) => ({ ...each, state: "completed", open: false })),
          webhooks: ids.map((id) => webhook(id)),
          events: ids.map((id) => event(id)),
        }));
        same(isRecorded, true);
        for (const id of ids) same((await store.find(id))?.open, false);
        same(await recorded(store, ids), ids.toSorted());
      }
    }
  });

  check("record stores nothing, and says so, where a webhook is taken", async (store, another) => {
    await saved(store, { created: [payment("p1")], webhooks: [webhook("k1")] });
    for (const [index, one] of [store, another].entries()) {
      if (!one.record) continue;
      const before = await store.find("p1");
      const clashes = [
        webhook("k1", { receiptId: "another" }),
        webhook("k2", { receiptId: "receipt-of-k1" }),
      ];
      for (const clash of clashes)
        for (const webhooks of [[clash], [webhook("k3"), clash]]) {
          // As if another process had recorded it since: it is not asked for.
          const isRecorded = await one.record({ clientIds: ["p1"] }, () => ({
            updated: [payment("p1", { state: "completed", open: false })],
            webhooks,
            events: [event(`e${index}`)],
          }));
          same(isRecorded, false);
        }
      same(await store.find("p1"), before);
      same(await recorded(store, ["k1", "k2", "k3"]), ["k1"]);
      // The event's id is still free, and the payment is not locked any more.
      await saved(another, { events: [event(`e${index}`)] });
      same(await one.record({ clientIds: ["p1"] }, () => ({ webhooks: [] })), true);
    }
  });

  check("record rejects, with nothing stored, as save and the decision do", async (store, another) => {
    await saved(store, {
      created: [payment("p1"), payment("p2", { serviceId: "s2" })],
      events: [event("e0")],
    });
    for (const one of [store, another]) {
      if (!one.record) continue;
      const why = new Error("undecided");
      const undecided = one.record({ clientIds: ["p1"] }, () => {
        throw why;
      });
      await assert.rejects(undecided, (error) => error === why);
      const rejected = [
        { updated: [payment("p1", { serviceId: "s2" })], webhooks: [webhook("k1")] },
        { webhooks: [webhook("k1")], events: [event("e0")] },
        { webhooks: [webhook("k1")], updated: [payment("nobody")] },
      ];
      for (const changes of rejected)
        await assert.rejects(
          one.record({ clientIds: ["p1"] }, () => changes),
          { code: "store_conflict" },
        );
      same(await recorded(store, ["k1"]), []);
      same((await store.find("p1"))?.serviceId, undefined);
    }
  });

  check("record runs one after the other where two lock the same payment", async (store, another) => {
    await saved(store, { created: [payment("p1", { failure: "0" })] });
    let counted = 0;
    const count = async (one: PaymentStore<Tx>): Promise<void> => {
      if (!one.record) return;
      counted++;
      await one.record({ clientIds: ["p1"] }, ({ payments: [found] }) => ({
        updated: [{ ...found!, failure: String(Number(found!.failure) + 1) }],
      }));
    };
    const turns = Array.from({ length: 10 }, () => [store, another]).flat();
    await Promise.all(turns.map(count));
    same((await store.find("p1"))?.failure, String(counted));
  });
}

async function recorded<Tx>(store: PaymentStore<Tx>, eventKeys: string[]): Promise<string[]> {
  const locked = await store.transaction((tx) => store.lock(tx, { eventKeys }));
  return locked.eventKeys.toSorted();
}
