import assert from "node:assert/strict";
import { auditor, event, ledger, mailer } from "./fixtures.js";
import { type Checks, claimed, eventIds, pairs, rolledBack, same, saved } from "./steps.js";

/** Checks of registered handlers, and of the dispatches that events get for them. */
export const expansionChecks: Checks = {
  async "each event is dispatched to each handler that wants it, once"(store) {
    const handlers = [ledger, mailer, auditor];
    await store.registerHandlers(handlers);
    await saved(store, { events: [event("e1"), event("e2", { type: "payment.overdue" })] });
    same(pairs(await claimed(store, handlers)), ["e1 auditor", "e1 ledger", "e1 mailer", "e2 auditor"]);
    same(await claimed(store, handlers), []);
  },

  async "an event is claimed exactly as it was saved"(store, another) {
    await store.registerHandlers([auditor]);
    const full = event("e1", {
      type: "webhook.inadmissible",
      clientId: "p1",
      payload: { text: "é e\u0301 🧾 \u0000", nested: { list: [1, null, "", { a: [] }] } },
    });
    await saved(store, { events: [full, event("e2")] });
    const events = (await claimed(another, [auditor])).map((claim) => claim.event);
    same(events, [full, event("e2")]);
  },

  async "an event id is unique; a second one rejects"(store) {
    await saved(store, { events: [event("e1")] });
    await assert.rejects(saved(store, { events: [event("e2"), event("e1")] }), { code: "store_conflict" });
    await store.registerHandlers([auditor]);
    same((await saved(store, { events: [event("e2")] })).takenEventKeys, []);
  },

  async "an event that is rolled back is never claimed"(store) {
    await store.registerHandlers([ledger]);
    await rolledBack(store, { events: [event("e1")] });
    same(await claimed(store, [ledger]), []);
  },

  async "a new handler starts with the events that are saved after it was registered"(store, another) {
    await saved(store, { events: [event("e0")] });
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1")] });
    await another.registerHandlers([mailer]);
    await saved(store, { events: [event("e2")] });
    same(pairs(await claimed(store, [ledger])), ["e1 ledger", "e2 ledger"]);
    same(pairs(await claimed(another, [mailer])), ["e2 mailer"]);
  },

  async "registering again changes nothing, and a claim with limit 0 returns nothing"(store) {
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1")] });
    await store.registerHandlers([ledger]);
    same(await claimed(store, [ledger], { limit: 0 }), []);
    same(pairs(await claimed(store, [ledger])), ["e1 ledger"]);
  },

  async "a handler that the store has forgotten gets the events since its first registration, once"(store) {
    await store.registerHandlers([auditor]);
    const at = (minute: number): string => `2026-11-20T10:0${minute}:00.000Z`;
    await saved(store, { events: [event("e1", { recordedAt: at(1) })] });
    same(pairs(await claimed(store, [auditor])), ["e1 auditor"]);
    await saved(store, { events: [event("e2", { recordedAt: at(2) })] });
    await saved(store, { events: [event("e3", { recordedAt: at(3), type: "payment.overdue" })] });
    const since = at(2);
    await store.registerHandlers([auditor, { ...ledger, since }]);
    await store.registerHandlers([auditor, { ...ledger, since }]);
    await saved(store, { events: [event("e4", { recordedAt: at(4) })] });
    same(pairs(await claimed(store, [ledger])), ["e2 ledger", "e4 ledger"]);
    same(pairs(await claimed(store, [auditor])), ["e2 auditor", "e3 auditor", "e4 auditor"]);
  },

  async "a claim for a handler that was never registered returns nothing and registers nothing"(store) {
    same(await claimed(store, [ledger]), []);
    await saved(store, { events: [event("e1")] });
    same(await claimed(store, [ledger]), []);
  },

  async "dispatches of names that a claimer does not have stay for others"(store, another) {
    await store.registerHandlers([ledger]);
    await another.registerHandlers([mailer]);
    await saved(store, { events: [event("e1")] });
    same(pairs(await claimed(store, [ledger])), ["e1 ledger"]);
    same(pairs(await claimed(another, [mailer])), ["e1 mailer"]);
  },

  async "one name for two events is claimed only for the events it is registered for"(store, another) {
    const overdue = { event: "payment.overdue", name: "ledger" } as const;
    await store.registerHandlers([ledger]);
    await another.registerHandlers([overdue]);
    await saved(store, { events: [event("e1", { type: "payment.overdue" }), event("e2")] });
    same(pairs(await claimed(store, [ledger])), ["e2 ledger"]);
    same(pairs(await claimed(another, [overdue])), ["e1 ledger"]);
  },

  async "a name registered for one event and for all of them gets each event once"(store) {
    const both = [ledger, { event: "*", name: "ledger" }] as const;
    await store.registerHandlers(both);
    await saved(store, { events: [event("e1"), event("e2", { type: "payment.overdue" })] });
    same(pairs(await claimed(store, both)), ["e1 ledger", "e2 ledger"]);
  },

  async "a backlog larger than one round is claimed completely, oldest first"(store) {
    await store.registerHandlers([ledger]);
    const ids = Array.from({ length: 1200 }, (_, index) => `e${String(index).padStart(4, "0")}`);
    for (let from = 0; from < ids.length; from += 10)
      await saved(store, { events: ids.slice(from, from + 10).map((id) => event(id)) });
    const taken: string[] = [];
    while (taken.length <= ids.length) {
      const claims = await claimed(store, [ledger], { limit: 250 });
      if (claims.length === 0) break;
      taken.push(...eventIds(claims));
    }
    same(taken, ids);
  },
};
