import assert from "node:assert/strict";
import { type Claim, type EventRecord } from "../../payment-store.js";
import { claimed, type Exam, saved } from "./exam.js";
import { auditor, event, ledger, payment, webhook } from "./fixtures.js";
import { same } from "./same.js";

const later = "2099-01-01T00:00:00.000Z";

/** Counting and pruning are optional: a store that has them must have them right. */
export function keepingChecks<Tx>({ check }: Exam<Tx>): void {
  check(
    "counts tell what waits: parked webhooks, dead dispatches, the oldest undone event",
    async (store) => {
      if (!store.counts) return;
      same(await store.counts(), { dead: 0, parked: 0 });
      await store.registerHandlers([auditor]);
      const [first, second] = [event("e1"), event("e2")];
      await saved(store, {
        webhooks: [webhook("w1", { outcome: "unmatched" }), webhook("w2")],
        events: [first, second],
      });
      same(await store.counts(), { dead: 0, parked: 1, oldestUndoneAt: first.recordedAt });

      const claims = await claimed(store, [auditor]);
      for (const [index, claim] of claims.entries()) {
        const state = index === 0 ? "dead" : "done";
        const { handler, fence } = claim;
        await store.transaction((tx) =>
          store.settle(tx, { eventId: claim.event.id, handler, fence, state, error: "no" }),
        );
      }
      await saved(store, { rematched: [{ receiptId: "receipt-of-w1", outcome: "applied" }] });
      same(await store.counts(), { dead: 1, parked: 0 });
    },
  );

  check("prune forgets what is final, and nothing that waits", async (store) => {
    if (!store.prune) return;
    await store.registerHandlers([auditor]);
    await saved(store, {
      created: [payment("p1", { state: "completed", open: false })],
      webhooks: [webhook("done"), webhook("parked", { outcome: "unmatched", clientId: "p9" })],
      events: [event("e-done"), event("e-dead"), event("e-open")],
    });
    for (const { event: taken, handler, fence } of await claimed(store, [auditor])) {
      const state = taken.id === "e-dead" ? "dead" : "done";
      if (taken.id === "e-open") continue;
      await store.transaction((tx) =>
        store.settle(tx, { eventId: taken.id, handler, fence, state, error: "no" }),
      );
    }

    same(await store.prune({ before: "2000-01-01T00:00:00.000Z", limit: 10 }), { webhooks: 0, events: 0 });
    same(await store.prune({ before: later, limit: 10 }), { webhooks: 1, events: 1 });
    same(await store.prune({ before: later, limit: 10 }), { webhooks: 0, events: 0 });

    const again = await saved(store, { webhooks: [webhook("done")] });
    assert.equal(again.takenEventKeys.length, 1, "a pruned webhook is no longer recognised");
    assert.ok(await store.find("p1"), "a payment was pruned");
    assert.equal((await store.counts?.())?.dead ?? 1, 1, "a dead dispatch was pruned");
    if (!store.parked) return;
    const [parked] = await store.transaction((tx) => store.parked!(tx, ["p9"]));
    assert.ok(parked !== undefined && parked.rawBody.length > 0, "a parked webhook was pruned");
  });

  check(
    "an event that is saved when all before it are forgotten is handed out as they were",
    async (store) => {
      if (!store.prune) return;
      await store.registerHandlers([ledger]);
      for (const id of ["e1", "e2"]) {
        await saved(store, { events: [event(id)] });
        const claims = await claimed(store, [ledger]);
        same(
          claims.map((claim) => claim.event.id),
          [id],
        );
        const [{ handler, fence }] = claims as [Claim];
        await store.transaction((tx) => store.settle(tx, { eventId: id, handler, fence, state: "done" }));
        same((await store.prune({ before: later, limit: 10 })).events, 1);
      }
    },
  );

  check("prune takes no more than its limit at once", async (store) => {
    if (!store.prune) return;
    await saved(store, { webhooks: ["a", "b", "c"].map((id) => webhook(id)) });
    same((await store.prune({ before: later, limit: 2 })).webhooks, 2);
    same((await store.prune({ before: later, limit: 2 })).webhooks, 1);
  });

  check("prune forgets events up to the given time, and none after it", async (store) => {
    if (!store.prune) return;
    await store.registerHandlers([ledger]);
    const at = (minute: number): string => `2024-05-01T10:${String(minute).padStart(2, "0")}:00.000Z`;
    const finished = async (events: EventRecord[]): Promise<void> => {
      await saved(store, { events });
      for (const { event: taken, handler, fence } of await claimed(store, [ledger], { limit: 50 }))
        await store.transaction((tx) =>
          store.settle(tx, { eventId: taken.id, handler, fence, state: "done" }),
        );
    };
    await finished(
      Array.from({ length: 37 }, (_, minute) => event(`e${minute}`, { recordedAt: at(minute) })),
    );
    const pruned = async (minute: number) => (await store.prune!({ before: at(minute), limit: 20 })).events;
    same([await pruned(0), await pruned(1), await pruned(11), await pruned(11)], [0, 1, 10, 0]);
    same([await pruned(36), await pruned(36), await pruned(59), await pruned(59)], [20, 5, 1, 0]);
    await finished([event("next", { recordedAt: at(58) })]);
    same([await pruned(58), await pruned(59)], [0, 1]);
  });
}
