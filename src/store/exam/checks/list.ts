import { type PaymentPage, type PaymentStore } from "../../payment-store.js";
import { type Exam, saved } from "./exam.js";
import { payment } from "./fixtures.js";
import { same } from "./same.js";

const may = (day: number): string => `2024-05-${String(day).padStart(2, "0")}T10:00:00.000Z`;

/** Listing is optional: a store that has it must have it right. */
export function listChecks<Tx>({ check }: Exam<Tx>): void {
  const ids = async (store: PaymentStore<Tx>, page: Partial<PaymentPage>): Promise<string[]> =>
    (await store.list!({ newestFirst: false, limit: 10, ...page })).map(({ clientId }) => clientId);

  check("list answers what matches every condition, in either order", async (store) => {
    if (!store.list) return;
    await saved(store, {
      created: [
        payment("b", { createdAt: may(2), reference: "r1", open: false }),
        payment("a", { createdAt: may(2), reference: "r1", open: false, state: "completed" }),
        payment("c", { createdAt: may(1), reference: "r2" }),
        payment("d", { createdAt: may(3), reference: "r1", state: "completed", open: false }),
      ],
    });
    same(await ids(store, {}), ["c", "a", "b", "d"]);
    same(await ids(store, { newestFirst: true }), ["d", "b", "a", "c"]);
    same(await ids(store, { state: "completed" }), ["a", "d"]);
    same(await ids(store, { reference: "r1", newestFirst: true }), ["d", "b", "a"]);
    same(await ids(store, { from: may(2), to: may(3) }), ["a", "b"]);
    same(await ids(store, { state: "completed", reference: "r1", from: may(3) }), ["d"]);
    same(await ids(store, { reference: "nobody" }), []);
    same(await store.list({ newestFirst: true, limit: 1 }), [await store.find("d")]);
  });

  check("list pages through everything once, also while payments are added behind it", async (store) => {
    if (!store.list) return;
    const all = Array.from({ length: 7 }, (_, index) => `p${index}`);
    await saved(store, {
      created: all.map((id, index) => payment(id, { createdAt: may(1 + Math.floor(index / 3)) })),
    });
    for (const newestFirst of [true, false]) {
      const seen: string[] = [];
      let after: PaymentPage["after"];
      while (seen.length <= 20) {
        const page = await store.list({ newestFirst, limit: 2, ...(after && { after }) });
        const last = page.at(-1);
        if (!last) break;
        seen.push(...page.map(({ clientId }) => clientId));
        after = { createdAt: last.createdAt, clientId: last.clientId };
        // Newest first, a new payment is before every page that is still to come.
        if (newestFirst && seen.length === 2)
          await saved(store, { created: [payment("late", { createdAt: may(9) })] });
      }
      same(seen, newestFirst ? all.toReversed() : [...all, "late"]);
    }
  });

  check("list of one state is in one order, overdue payments among the others", async (store) => {
    if (!store.list) return;
    const states = ["pending", "completed", "creating", "pending", "failed", "pending", "pending"] as const;
    await saved(store, {
      created: states.map((state, index) =>
        payment(`p${index}`, { state, createdAt: may(1 + index), ...(index === 3 && { overdueAt: may(9) }) }),
      ),
    });
    same(await ids(store, { state: "pending" }), ["p0", "p3", "p5", "p6"]);
    same(await ids(store, { state: "pending", newestFirst: true, limit: 3 }), ["p6", "p5", "p3"]);
    const after = { createdAt: may(4), clientId: "p3" };
    same(await ids(store, { state: "pending", after }), ["p5", "p6"]);
    same(await ids(store, { state: "creating" }), ["p2"]);
    same(await ids(store, { state: "failed" }), ["p4"]);
  });
}
