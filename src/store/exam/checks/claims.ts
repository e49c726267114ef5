import assert from "node:assert/strict";
import { type HandlerKey } from "../../contract.js";
import { event, ledger, mailer } from "./fixtures.js";
import { type Checks, claimed, concurrently, eventIds, pairs, same, saved, withEvents } from "./steps.js";

/** Checks of `claim`: its limit, the order of claims, the handlers, and new leases. */
export const claimChecks: Checks = {
  async "a first claim has fence 1, attempt 1 and no failures"(store) {
    await withEvents(store, [ledger], 1);
    const [claim] = await claimed(store, [ledger]);
    same(claim, { event: event("e0"), handler: "ledger", fence: 1, attempt: 1, failures: 0 });
  },

  async "a claim takes no more than its limit, oldest events first"(store) {
    await withEvents(store, [ledger], 5);
    same(eventIds(await claimed(store, [ledger], { limit: 2 })), ["e0", "e1"]);
    same(eventIds(await claimed(store, [ledger], { limit: 10 })), ["e2", "e3", "e4"]);
    // A claim for another handler makes the dispatch of e5. The dispatches of e6 and e7 do not exist yet.
    await store.registerHandlers([mailer]);
    await saved(store, { events: [event("e5")] });
    await claimed(store, [ledger]);
    await saved(store, { events: [event("e6"), event("e7")] });
    same(eventIds(await claimed(store, [mailer], { limit: 2 })), ["e5", "e6"]);
  },

  async "oldest events first holds across handlers too"(store) {
    const late: HandlerKey = { event: "payment.overdue", name: "a-late-name" };
    await store.registerHandlers([ledger, late]);
    await saved(store, { events: [event("e1")] });
    await saved(store, { events: [event("e2", { type: "payment.overdue" })] });
    same(pairs(await claimed(store, [late, ledger], { limit: 1 })), ["e1 ledger"]);
  },

  async "a claimed dispatch is not claimed again while its lease lasts"(store, another) {
    await withEvents(store, [ledger], 3);
    assert.equal((await claimed(store, [ledger])).length, 3);
    same(await claimed(store, [ledger]), []);
    same(await claimed(another, [ledger]), []);
  },

  async "many concurrent claimers share the events without overlap"(store, another) {
    const count = 60;
    await withEvents(store, [ledger, mailer], count);
    await another.registerHandlers([ledger, mailer]);
    const taken: string[] = [];
    await concurrently(6, [store, another], async (mine) => {
      for (let empty = 0; empty < 3 && taken.length <= count * 2;) {
        const claims = await claimed(mine, [ledger, mailer], { limit: 7 });
        if (claims.length === 0) empty++;
        taken.push(...pairs(claims));
      }
    });
    taken.push(...pairs(await claimed(store, [ledger, mailer], { limit: 1000 })));
    assert.equal(new Set(taken).size, taken.length, "a dispatch was claimed twice");
    assert.equal(taken.length, count * 2);
  },

  async "claimers that race events being saved miss none and take none twice"(store, another) {
    await store.registerHandlers([ledger]);
    await another.registerHandlers([ledger]);
    const taken: string[] = [];
    await concurrently(30, [another, store], async (mine, index) => {
      await saved(mine, { events: [event(`e${index}`)] });
      const claimer = index % 3 === 0 ? another : store;
      taken.push(...pairs(await claimed(claimer, [ledger], { limit: 5 })));
    });
    taken.push(...pairs(await claimed(store, [ledger], { limit: 100 })));
    assert.equal(taken.length, 30);
    assert.equal(new Set(taken).size, 30);
  },

  async "after concurrent registrations each event is dispatched to each handler once"(store, another) {
    const handlers = [ledger, mailer];
    await concurrently(4, [store, another], (mine) => mine.registerHandlers(handlers));
    await saved(store, { events: [event("e0")] });
    same(pairs(await claimed(another, [mailer, ledger])), ["e0 ledger", "e0 mailer"]);
  },
};
