import assert from "node:assert/strict";
import { type EventRecord, type HandlerKey, type PaymentStore, type PrunePosition } from "../../contract.js";
import { at, auditor, event, ledger, mailer, payment, resolution, webhook } from "./fixtures.js";
import {
  type Checks,
  claimed,
  eventIds,
  pairs,
  same,
  saved,
  settled,
  withEvents,
  savedInPieces,
} from "./steps.js";

const later = "2099-01-01T00:00:00.000Z";

/** Prunes one batch. Returns the numbers of pruned webhooks and events. */
async function pruned(store: PaymentStore, before = later) {
  const { webhooks, events } = await store.prune({ before, limit: 10 });
  return { webhooks, events };
}

/** Checks of `prune`. */
export const pruneChecks: Checks = {
  async "prune deletes what is final, and nothing that waits"(store) {
    await store.registerHandlers([auditor]);
    await saved(store, {
      created: [payment("p1", { state: "completed", open: false })],
      webhooks: [webhook("done"), webhook("parked", { outcome: "unmatched", clientId: "p9" })],
      events: [event("e-done"), event("e-dead"), event("e-open")],
    });
    for (const claim of await claimed(store, [auditor])) {
      const { id } = claim.event;
      if (id === "e-open") continue;
      await settled(store, claim, { state: id === "e-dead" ? "dead" : "done", error: "no" });
    }

    same(await pruned(store, "2000-01-01T00:00:00.000Z"), { webhooks: 0, events: 0 });
    same(await pruned(store), { webhooks: 1, events: 1 });
    same(await pruned(store), { webhooks: 0, events: 0 });

    const again = await saved(store, { webhooks: [webhook("done")] });
    assert.equal(again.takenEventKeys.length, 1, "a pruned webhook is no longer recognised");
    assert.ok(await store.find("p1"), "a payment was pruned");
    assert.equal((await store.counts()).dead, 1, "a dead dispatch was pruned");
    const [parked] = await store.transaction((tx) => store.rematchable(tx, ["p9"]));
    assert.ok(parked !== undefined && parked.rawBody.length > 0, "a parked webhook was pruned");
  },

  async "prune goes on where it ended, and misses nothing"(store) {
    await store.registerHandlers([auditor]);
    const names = [1, 2, 3, 4, 5, 6, 7].map((number) => `k${number}`);
    await saved(store, {
      // Most times have two webhooks. The webhooks that stay are the first, the fourth and the last.
      webhooks: names.map((name, index) =>
        webhook(name, { receivedAt: at(index >> 1), outcome: index % 3 === 0 ? "unmatched" : "applied" }),
      ),
    });
    await saved(store, {
      events: names.map((name, index) => event(name, { recordedAt: at(index >> 1) })),
    });
    for (const claim of await claimed(store, [auditor]))
      await settled(store, claim, { state: claim.event.id === "k1" ? "dead" : "done", error: "no" });
    const total = { webhooks: 0, events: 0 };
    for (let after: PrunePosition | undefined; ;) {
      const batch = await store.prune({ before: later, limit: 1, ...(after && { after }) });
      total.webhooks += batch.webhooks;
      total.events += batch.events;
      after = batch.after;
      if (batch.webhooks + batch.events === 0) break;
    }
    same(total, { webhooks: 4, events: 6 });
  },

  async "prune keeps the bytes of what a person must settle until somebody has settled it"(store, another) {
    for (const outcome of ["mismatch", "inadmissible"] as const) {
      const open = webhook(`open-${outcome}`, { outcome });
      await saved(store, { webhooks: [open] });
      same((await store.prune({ before: later, limit: 10 })).webhooks, 0);
      const [kept] = await store.webhooks({ receiptId: open.receiptId, limit: 1 });
      assert.ok(
        kept?.rawBody.equals(open.rawBody),
        `the bytes of a webhook with the outcome ${outcome}, which waits for a person, are gone`,
      );
      await saved(another, { resolutions: [resolution(`r-${outcome}`, { receiptId: open.receiptId })] });
      same((await store.prune({ before: later, limit: 10 })).webhooks, 1);
    }
    // A person settled an earlier outcome of this webhook, and not its present outcome.
    const { receiptId } = webhook("again");
    await saved(store, { webhooks: [webhook("again", { outcome: "unmatched" })] });
    await saved(store, { dismissed: [receiptId], resolutions: [resolution("r-again", { receiptId })] });
    await saved(another, { rematched: [{ receiptId, outcome: "mismatch", decidedAt: at(1) }] });
    const why = "The bytes of a webhook are gone that became a mismatch after a person had settled it.";
    same((await store.prune({ before: later, limit: 10 })).webhooks, 0, why);
  },

  async "prune deletes the bytes of a webhook that a person dismissed"(store, another) {
    for (const outcome of ["unmatched", "unconfirmed"] as const) {
      const waiting = webhook(outcome, { outcome, clientId: "p1" });
      const { receiptId } = waiting;
      await saved(store, { webhooks: [waiting] });
      same((await store.prune({ before: later, limit: 10 })).webhooks, 0);
      const dismissal = resolution(`r-${outcome}`, { action: "dismissed", receiptId });
      await saved(another, { dismissed: [receiptId], resolutions: [dismissal] });
      same((await store.prune({ before: later, limit: 10 })).webhooks, 1);
      const [found] = await store.webhooks({ receiptId, limit: 1 });
      same([found?.outcome, found?.rawBody.length], [outcome, 0]);
    }
  },

  async "an event that is saved after all others were pruned is claimed like them"(store) {
    await store.registerHandlers([ledger]);
    for (const id of ["e1", "e2"]) {
      await saved(store, { events: [event(id)] });
      const claims = await claimed(store, [ledger]);
      same(eventIds(claims), [id]);
      await settled(store, claims[0]!, { state: "done" });
      same((await store.prune({ before: later, limit: 10 })).events, 1);
    }
  },

  async "an event that no handler wants is pruned, too"(store) {
    await saved(store, { events: [event("before-any-handler")] });
    same((await store.prune({ before: later, limit: 10 })).events, 1);
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("unwanted", { type: "payment.overdue" }), event("wanted")] });
    for (const claim of await claimed(store, [ledger])) await settled(store, claim, { state: "done" });
    same(await pruned(store), { webhooks: 0, events: 2 });
    same(await pruned(store), { webhooks: 0, events: 0 });
  },

  async "one call of prune deletes no more than its limit"(store) {
    await saved(store, { webhooks: ["a", "b", "c"].map((id) => webhook(id)) });
    same((await store.prune({ before: later, limit: 2 })).webhooks, 2);
    same((await store.prune({ before: later, limit: 2 })).webhooks, 1);
  },

  async "prune deletes events before the given time, and none after it"(store) {
    await store.registerHandlers([ledger]);
    const finished = async (events: EventRecord[]): Promise<void> => {
      await savedInPieces(store, "events", events);
      for (const claim of await claimed(store, [ledger], { limit: 50 }))
        await settled(store, claim, { state: "done" });
    };
    await finished(
      Array.from({ length: 37 }, (_, minute) => event(`e${minute}`, { recordedAt: at(minute) })),
    );
    const pruned = async (minute: number) => (await store.prune({ before: at(minute), limit: 20 })).events;
    same([await pruned(0), await pruned(1), await pruned(11), await pruned(11)], [0, 1, 10, 0]);
    same([await pruned(36), await pruned(36), await pruned(59), await pruned(59)], [20, 5, 1, 0]);
    await finished([event("next", { recordedAt: at(58) })]);
    same([await pruned(58), await pruned(59)], [0, 1]);
  },
};

/** Checks of `retire`. */
export const retireChecks: Checks = {
  async "retire ends what is not done of one name, in steps, and its runs cannot commit"(store, another) {
    await withEvents(store, [ledger, mailer], 5);
    const [running, done, dead] = await claimed(store, [ledger], { limit: 3 });
    await settled(store, done!, { state: "done" });
    await settled(store, dead!, { state: "dead", error: "no" });
    await saved(store, { events: [event("unclaimed")] });

    const retired = (limit: number) => another.retire({ handler: "ledger", limit });
    same([await retired(3), await retired(3), await retired(3)], [3, 2, 0]);
    assert.equal(await settled(store, running!, { state: "done" }), false);
    same(await store.dead({ revive: true, limit: 10 }), []);
    same(await claimed(store, [ledger]), []);
    await saved(store, { events: [event("later")] });
    assert.equal((await claimed(store, [mailer])).length, 7, "another handler was retired too");
  },

  async "retire of one event leaves what the name is registered for otherwise"(store) {
    const overdue: HandlerKey = { event: "payment.overdue", name: "ledger" };
    await withEvents(store, [ledger, overdue, mailer], 1);
    await saved(store, { events: [event("late", { type: "payment.overdue", clientId: "p1" })] });
    const retire = () => store.retire({ handler: "ledger", event: "payment.overdue", limit: 10 });
    same([await retire(), await retire()], [1, 0]);
    const [ended] = (await store.history("p1")).dispatches;
    same([ended?.state, typeof ended?.settledAt], ["retired", "string"]);
    await saved(store, { events: [event("later", { type: "payment.overdue" }), event("more")] });
    same(pairs(await claimed(store, [ledger, overdue])), ["e0 ledger", "more ledger"]);
    const all: HandlerKey = { event: "*", name: "all" };
    await store.registerHandlers([all, { ...overdue, name: "all" }]);
    await saved(store, { events: [event("last", { type: "payment.overdue" })] });
    same(await store.retire({ handler: "all", event: "payment.overdue", limit: 10 }), 0);
    same(pairs(await claimed(store, [all])), ["last all"]);
  },

  async "a retired name gets no events until it is registered again, and its dispatches are final"(store) {
    await withEvents(store, [ledger], 1);
    same(await store.retire({ handler: "ledger", limit: 10 }), 1);
    await saved(store, { events: [event("between")] });
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("after")] });
    same(pairs(await claimed(store, [ledger])), ["after ledger"]);
    assert.ok((await store.prune({ before: later, limit: 9 })).events > 0, "none is pruned");
  },
};
