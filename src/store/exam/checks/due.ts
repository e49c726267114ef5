import assert from "node:assert/strict";
import { type Exam, saved } from "./exam.js";
import { payment } from "./fixtures.js";
import { same } from "./same.js";

const may = (day: number): string => `2024-05-${String(day).padStart(2, "0")}T10:00:00.000Z`;

export function dueChecks<Tx>(exam: Exam<Tx>): void {
  if (exam.has("due")) overdueChecks(exam);
  if (exam.has("lookupDue")) lookupChecks(exam);
}

function overdueChecks<Tx>({ check }: Exam<Tx>): void {
  check("due answers old payments that are still awaited, and no others", async (store) => {
    await saved(store, {
      created: [
        payment("creating", { state: "creating", createdAt: may(1) }),
        payment("pending", { state: "pending", createdAt: may(2) }),
        payment("uncertain", { state: "uncertain", open: false, createdAt: may(3) }),
        payment("completed", { state: "completed", createdAt: may(1) }),
        payment("failed", { state: "failed", createdAt: may(1) }),
        payment("canceled", { state: "canceled", createdAt: may(1) }),
        payment("told", { createdAt: may(1), overdueAt: may(2) }),
        payment("on time", { createdAt: may(4) }),
      ],
    });
    const found = await store.due!({ before: may(4), limit: 10 });
    same(found, [
      payment("creating", { state: "creating", createdAt: may(1) }),
      payment("pending", { state: "pending", createdAt: may(2) }),
      payment("uncertain", { state: "uncertain", open: false, createdAt: may(3) }),
    ]);
  });

  check("due pages through everything in (createdAt, clientId) order, each payment once", async (store) => {
    const ids = ["c", "A", "b", "a", "d", "B", "e"];
    await saved(store, {
      created: ids.map((id, index) => payment(id, { createdAt: may(index < 5 ? 1 : 2) })),
    });
    const seen: string[] = [];
    let after: { createdAt: string; clientId: string } | undefined;
    while (seen.length <= ids.length) {
      const page = await store.due!({ before: may(9), limit: 2, ...(after ? { after } : {}) });
      assert.ok(page.length <= 2, "a page is longer than its limit");
      const last = page.at(-1);
      if (!last) break;
      seen.push(...page.map(({ clientId }) => clientId));
      after = { createdAt: last.createdAt, clientId: last.clientId };
    }
    same(seen, ["A", "a", "b", "c", "d", "B", "e"]);
  });

  check("a payment is due no more once it is told, paid or canceled", async (store) => {
    const ids = ["p1", "p2", "p3", "p4"];
    await saved(store, { created: ids.map((id) => payment(id)) });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ids });
      await store.save(tx, {
        updated: [
          payment("p1", { overdueAt: may(2) }),
          payment("p2", { state: "completed" }),
          payment("p3", { state: "canceled", open: false }),
        ],
      });
    });
    const found = await store.due!({ before: may(9), limit: 10 });
    same(
      found.map(({ clientId }) => clientId),
      ["p4"],
    );
  });
}

function lookupChecks<Tx>({ check }: Exam<Tx>): void {
  check("lookupDue answers the payments whose time has come, the longest due first", async (store) => {
    await saved(store, {
      created: [
        payment("b", { nextLookupAt: may(2) }),
        payment("a", { nextLookupAt: may(2), state: "canceled", open: false, lookups: 3 }),
        payment("c", { nextLookupAt: may(1), overdueAt: may(1) }),
        payment("later", { nextLookupAt: may(4) }),
        payment("never"),
      ],
    });
    const ids = async (limit: number) =>
      (await store.lookupDue!({ before: may(4), limit })).map(({ clientId }) => clientId);
    same(await ids(10), ["c", "a", "b"]);
    same(await ids(2), ["c", "a"]);
    same((await store.find("a"))?.lookups, 3);
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["a", "c"] });
      const updated = [
        payment("a", { state: "completed" }),
        payment("c", { nextLookupAt: may(5), lookups: 1 }),
      ];
      await store.save(tx, { updated });
    });
    same(await ids(10), ["b"]);
    same(await store.find("c"), payment("c", { nextLookupAt: may(5), lookups: 1 }));
  });
}
