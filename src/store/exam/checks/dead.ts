import assert from "node:assert/strict";
import { claimed, type Exam, saved } from "./exam.js";
import { auditor, event, ledger } from "./fixtures.js";
import { same } from "./same.js";

/** Dead dispatches can be listed and revived where the store has `dead`. */
export function deadChecks<Tx>({ check }: Exam<Tx>): void {
  check("dead dispatches are answered by any condition, and revived only where asked for", async (store) => {
    if (!store.dead) return;
    await store.registerHandlers([ledger, auditor]);
    await saved(store, {
      events: [event("e1", { clientId: "p1" }), event("e2", { type: "payment.overdue" }), event("e3")],
    });
    const claims = await claimed(store, [ledger, auditor]);
    for (const { event: taken, handler, fence } of claims) {
      const state = taken.id === "e3" ? "done" : "dead";
      await store.transaction((tx) =>
        store.settle(tx, { eventId: taken.id, handler, fence, state, error: "no" }),
      );
    }
    const names = async (options: object) =>
      (await store.dead!({ revive: false, limit: 10, ...options }))
        .map(({ eventId, handler }) => `${eventId} ${handler}`)
        .toSorted();
    same(await names({}), ["e1 auditor", "e1 ledger", "e2 auditor"]);
    same((await store.dead({ revive: false, limit: 2 }))[1]?.eventId, "e1");
    same(await names({ handler: "auditor" }), ["e1 auditor", "e2 auditor"]);
    same(await names({ type: "payment.overdue" }), ["e2 auditor"]);
    same(await names({ eventId: "e1", handler: "ledger" }), ["e1 ledger"]);
    same(await claimed(store, [ledger, auditor]), []);

    same(await names({ eventId: "e1", handler: "ledger", revive: true }), ["e1 ledger"]);
    same(await names({}), ["e1 auditor", "e2 auditor"]);
    const [again, ...others] = await claimed(store, [ledger, auditor]);
    same(others, []);
    const died = claims.find(({ event: taken, handler }) => taken.id === "e1" && handler === "ledger")!;
    same([again!.event.id, again!.attempt, again!.failures], ["e1", 1, 0]);
    assert.ok(again!.fence > died.fence, "an old run could settle the revived dispatch");
    if (store.counts) same((await store.counts()).dead, 2);
  });
}
