import assert from "node:assert/strict";
import { type Payment } from "../../../model/payment.js";
import { type PaymentPage, type PaymentStore } from "../../contract.js";
import { at, payment } from "./fixtures.js";
import { type Checks, clientIds, same, saved, savedInPieces } from "./steps.js";

/** Checks of `due`. */
export const overdueChecks: Checks = {
  async "due returns old payments that are still awaited, and no others"(store) {
    const awaited = [
      payment("creating", { state: "creating", createdAt: at(1) }),
      payment("pending", { state: "pending", createdAt: at(2) }),
      payment("uncertain", { state: "uncertain", open: false, createdAt: at(3) }),
    ];
    await saved(store, {
      created: [
        ...awaited,
        payment("completed", { state: "completed", createdAt: at(1) }),
        payment("failed", { state: "failed", createdAt: at(1) }),
        payment("canceled", { state: "canceled", createdAt: at(1) }),
        payment("marked", { createdAt: at(1), overdueAt: at(2) }),
        payment("on time", { createdAt: at(4) }),
      ],
    });
    same(await store.due({ before: at(4), limit: 10 }), awaited);
  },

  async "due pages through all payments in (createdAt, clientId) order, each payment once"(store) {
    const ids = ["c", "A", "b", "a", "d", "B", "e"];
    await saved(store, {
      created: ids.map((id, index) => payment(id, { createdAt: at(index < 5 ? 1 : 2) })),
    });
    const seen: string[] = [];
    for await (const page of pages((after) => store.due({ before: at(9), limit: 2, ...after }))) {
      assert.ok(page.length <= 2, "a page is longer than its limit");
      seen.push(...page);
    }
    same(seen, ["A", "a", "b", "c", "d", "B", "e"]);
  },

  async "a payment is no longer due once it is marked overdue, paid or canceled"(store) {
    const ids = ["p1", "p2", "p3", "p4"];
    await saved(store, { created: ids.map((id) => payment(id)) });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ids });
      await store.save(tx, {
        updated: [
          payment("p1", { overdueAt: at(2) }),
          payment("p2", { state: "completed" }),
          payment("p3", { state: "canceled", open: false }),
        ],
      });
    });
    same(clientIds(await store.due({ before: at(9), limit: 10 })), ["p4"]);
  },
};

/** Checks of `lookupDue`. */
export const lookupDueChecks: Checks = {
  async "lookupDue returns the payments whose time has come, earliest first"(store) {
    await saved(store, {
      created: [
        payment("b", { nextLookupAt: at(2) }),
        payment("c", { nextLookupAt: at(1), overdueAt: at(1) }),
        payment("a", { nextLookupAt: at(2), state: "canceled", open: false, lookups: 3 }),
        payment("later", { nextLookupAt: at(4) }),
        payment("never"),
      ],
    });
    const ids = async (limit: number) => clientIds(await store.lookupDue({ before: at(4), limit }));
    same(await ids(10), ["c", "a", "b"]);
    same(await ids(2), ["c", "a"]);
    same((await store.find("a"))?.lookups, 3);
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["a", "c"] });
      const updated = [
        payment("a", { state: "completed" }),
        payment("c", { nextLookupAt: at(5), lookups: 1 }),
      ];
      await store.save(tx, { updated });
    });
    same(await ids(10), ["b"]);
    same(await store.find("c"), payment("c", { nextLookupAt: at(5), lookups: 1 }));
  },
};

/** Checks of `findMany` and `list`. */
export const listChecks: Checks = {
  async "findMany returns the payments that any key names, with their siblings, each once"(store) {
    const found = async (ids: string[], serviceIds: string[] = []): Promise<string[]> =>
      clientIds(await store.findMany({ clientIds: ids, serviceIds })).toSorted();
    await saved(store, {
      created: [
        payment("a1", { reference: "a", serviceId: "s-a1", state: "completed", open: false }),
        payment("a2", { reference: "a" }),
        payment("b", { serviceId: "s-b" }),
        payment("c"),
        payment("B"),
      ],
    });
    same(await found([]), []);
    same(await found(["nobody"], ["s-nobody"]), []);
    same(await found(["c", "c"]), ["c"]);
    same(await found(["a2", "a1", "nobody", "b"]), ["a1", "a2", "b"]);
    same(await found(["b"], ["s-a1", "s-b"]), ["a1", "a2", "b"]);
    same(await found([], ["s-b"]), ["b"]);
    same(await store.findMany({ clientIds: ["b"] }), [await store.find("b")]);
  },

  async "findMany takes five hundred keys, and sees only what is committed"(store, another) {
    const ids = Array.from({ length: 500 }, (_, index) => `p${index}`);
    const created = ids.slice(0, 300).map((id) => payment(id));
    await savedInPieces(store, "created", created);
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ids.slice(0, 10) });
      await store.save(tx, { updated: [payment("p0", { status: "not yet" })] });
      const found = await another.findMany({ clientIds: ids });
      assert.equal(found.length, 300);
      assert.ok(found.every(({ status }) => status === undefined));
    });
  },

  async "list returns the payments that match every condition, in either order"(store) {
    await saved(store, {
      created: [
        payment("b", { createdAt: at(2), reference: "r1", open: false }),
        payment("a", { createdAt: at(2), reference: "r1", open: false, state: "completed" }),
        payment("c", { createdAt: at(1), reference: "r2" }),
        payment("d", { createdAt: at(3), reference: "r1", state: "completed", open: false }),
      ],
    });
    same(await listed(store, {}), ["c", "a", "b", "d"]);
    same(await listed(store, { newestFirst: true }), ["d", "b", "a", "c"]);
    same(await listed(store, { state: "completed" }), ["a", "d"]);
    same(await listed(store, { reference: "r1", newestFirst: true }), ["d", "b", "a"]);
    same(await listed(store, { from: at(2), to: at(3) }), ["a", "b"]);
    same(await listed(store, { state: "completed", reference: "r1", from: at(3) }), ["d"]);
    same(await listed(store, { reference: "nobody" }), []);
    same(await store.list({ newestFirst: true, limit: 1 }), [await store.find("d")]);
  },

  async "list pages through all payments once, also while payments are added"(store) {
    const all = [..."p p-1 p.1 p1 p10:1 p1:1 p1:10 p2:1 p:1 pA p_1 pa".split(" "), "P:1", "P_1"];
    const created = all.map((id) => payment(id, { createdAt: at(id.startsWith("P") ? 2 : 1) }));
    await savedInPieces(store, "created", created);
    for (const newestFirst of [true, false]) {
      const seen: string[] = [];
      for await (const page of pages((after) => store.list({ newestFirst, limit: 2, ...after }))) {
        seen.push(...page);
        // With the newest first, a new payment belongs to a page that was already read.
        if (newestFirst && seen.length === 2)
          await saved(store, { created: [payment("late", { createdAt: at(9) })] });
      }
      same(seen, newestFirst ? all.toReversed() : [...all, "late"]);
    }
  },

  async "list of one state has one order, overdue payments among the others"(store) {
    const states = ["pending", "completed", "creating", "pending", "failed", "pending", "pending"] as const;
    await saved(store, {
      created: states.map((state, index) =>
        payment(`p${index}`, { state, createdAt: at(1 + index), ...(index === 3 && { overdueAt: at(9) }) }),
      ),
    });
    same(await listed(store, { state: "pending" }), ["p0", "p3", "p5", "p6"]);
    same(await listed(store, { state: "pending", newestFirst: true, limit: 3 }), ["p6", "p5", "p3"]);
    const after = { createdAt: at(4), clientId: "p3" };
    same(await listed(store, { state: "pending", after }), ["p5", "p6"]);
    same(await listed(store, { state: "creating" }), ["p2"]);
    same(await listed(store, { state: "failed" }), ["p4"]);
  },
};

/** Yields the clientIds of at most 15 successive pages, one page at a time. */
async function* pages(read: (after: Pick<PaymentPage, "after">) => Promise<Payment[]>) {
  let after: Pick<PaymentPage, "after"> = {};
  for (let count = 0; count < 15; count++) {
    const page = await read(after);
    const last = page.at(-1);
    if (!last) return;
    after = { after: { createdAt: last.createdAt, clientId: last.clientId } };
    yield clientIds(page);
  }
}

async function listed(store: PaymentStore, page: Partial<PaymentPage>): Promise<string[]> {
  return clientIds(await store.list({ newestFirst: false, limit: 10, ...page }));
}
