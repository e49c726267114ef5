import assert from "node:assert/strict";
import { type Locked } from "../../contract.js";
import { event, payment, webhook } from "./fixtures.js";
import {
  type Checks,
  clientIds,
  concurrently,
  expectAllMade,
  recorded,
  same,
  saved,
  savedInPieces,
} from "./steps.js";

/** Checks of `record`: `lock`, the decision and `save` in one call. Both stores are checked. */
export const recordChecks: Checks = {
  async "record locks, decides and saves in one transaction, and resolves after the commit"(store, another) {
    for (const [index, one] of [store, another].entries()) {
      const [id, sibling] = [`p${index}`, `sibling-of-p${index}`];
      const [known, fresh] = [`known-${index}`, `new-${index}`];
      const own = { reference: `order-${index}`, serviceId: `s-${id}` };
      await saved(store, {
        created: [payment(id, own), payment(sibling, { reference: own.reference, open: false })],
        webhooks: [webhook(known)],
      });
      let found: Locked | undefined;
      const keys = { serviceIds: [own.serviceId], eventKeys: [known, fresh] };
      const isRecorded = await one.record(keys, (locked) => {
        found = locked;
        return {
          updated: [payment(id, { ...own, state: "completed", open: false })],
          webhooks: [webhook(fresh)],
          copies: [{ eventKey: known, count: 2 }],
          events: [event(`e${index}`)],
        };
      });
      same(isRecorded, true);
      same(clientIds(found!.payments).toSorted(), [id, sibling]);
      same(found?.eventKeys, [known]);
      const seenBy = one === store ? another : store;
      same((await seenBy.find(id))?.state, "completed");
      same(await recorded(seenBy, [fresh]), [fresh]);
    }
  },

  async "record writes one row or many, and nothing where nothing was decided"(store, another) {
    for (const [index, one] of [store, another].entries()) {
      for (const count of [0, 1, 2, Math.min(30, one.maxGroup ?? 30)]) {
        const ids = Array.from({ length: count }, (_, n) => `p-${index}-${count}-${n}`);
        const created = ids.map((id) => payment(id));
        await savedInPieces(store, "created", created);
        // The last payment has more changed fields than the others.
        const isRecorded = await one.record({ clientIds: ids }, ({ payments }) => ({
          updated: payments.map((each) => ({
            ...each,
            state: "completed",
            open: false,
            ...(each.clientId === ids.at(-1) && { status: "completed" }),
          })),
          webhooks: ids.map((id) => webhook(id)),
          events: ids.map((id) => event(id)),
        }));
        same(isRecorded, true);
        for (const id of ids) {
          const found = await store.find(id);
          same([found?.open, found?.status], [false, id === ids.at(-1) ? "completed" : undefined]);
        }
        same(await recorded(store, ids), ids.toSorted());
      }
    }
  },

  async "record stores nothing and returns false where a webhook is taken"(store, another) {
    await saved(store, { created: [payment("p1")], webhooks: [webhook("k1")] });
    for (const [index, one] of [store, another].entries()) {
      const before = await store.find("p1");
      const clashes = [
        webhook("k1", { receiptId: "another" }),
        webhook("k2", { receiptId: "receipt-of-k1" }),
      ];
      for (const clash of clashes)
        for (const webhooks of [[clash], [webhook("k3"), clash]]) {
          // The keys lack the eventKey, as if another process had stored the webhook after the lock.
          const isRecorded = await one.record({ clientIds: ["p1"] }, () => ({
            updated: [payment("p1", { state: "completed", open: false })],
            webhooks,
            events: [event(`e${index}`)],
          }));
          same(isRecorded, false);
        }
      same(await store.find("p1"), before);
      same(await recorded(store, ["k1", "k2", "k3"]), ["k1"]);
      // The event's id is still free, and the payment is no longer locked.
      await saved(another, { events: [event(`e${index}`)] });
      same(await one.record({ clientIds: ["p1"] }, () => ({ webhooks: [] })), true);
    }
  },

  async "record rejects as save and the decision do, and then stores nothing"(store, another) {
    await saved(store, {
      created: [payment("p1"), payment("p2", { serviceId: "s2" })],
      events: [event("e0")],
    });
    for (const one of [store, another]) {
      const why = new Error("undecided");
      const undecided = one.record({ clientIds: ["p1"] }, () => {
        throw why;
      });
      await assert.rejects(undecided, (error) => error === why);
      const webhooks = [webhook("k1")];
      const rejected = [
        { updated: [payment("p1", { serviceId: "s2" })], webhooks },
        { webhooks, events: [event("e0")] },
        { webhooks, updated: [payment("nobody")] },
      ];
      for (const changes of rejected) {
        const recording = one.record({ clientIds: ["p1"] }, () => changes);
        await assert.rejects(recording, { code: "store_conflict" });
      }
      same(await recorded(store, ["k1"]), []);
      same((await store.find("p1"))?.serviceId, undefined);
    }
  },

  async "calls of record that lock the same payment run one after the other"(store, another) {
    await saved(store, { created: [payment("p1", { failure: "0" })] });
    await concurrently(20, [store, another], (one) =>
      one.record({ clientIds: ["p1"] }, ({ payments: [found] }) => ({
        updated: [{ ...found!, failure: String(Number(found!.failure) + 1) }],
      })),
    );
    expectAllMade((await store.find("p1"))?.failure, 20);
  },
};
