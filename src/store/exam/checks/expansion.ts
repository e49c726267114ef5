import assert from "node:assert/strict";
import { type Claim } from "../../payment-store.js";
import { claimed, type Exam, saved } from "./exam.js";
import { auditor, event, ledger, mailer } from "./fixtures.js";
import { same } from "./same.js";

export function expansionChecks<Tx>({ check }: Exam<Tx>): void {
  check("each event goes to each handler that wants it, once", async (store) => {
    await store.registerHandlers([ledger, mailer, auditor]);
    await saved(store, { events: [event("e1"), event("e2", { type: "payment.overdue" })] });
    const claims = await claimed(store, [ledger, mailer, auditor]);
    same(pairs(claims), ["e1 auditor", "e1 ledger", "e1 mailer", "e2 auditor"]);
    same(await claimed(store, [ledger, mailer, auditor]), []);
  });

  check("an event comes back exactly as it was saved", async (store, another) => {
    await store.registerHandlers([auditor]);
    const whole = event("e1", {
      type: "webhook.inadmissible",
      clientId: "p1",
      payload: { text: "é e\u0301 🧾 \u0000", nested: { list: [1, null, "", { a: [] }] } },
    });
    await saved(store, { events: [whole, event("e2")] });
    const claims = await claimed(another, [auditor]);
    same(
      claims.map((claim) => claim.event),
      [whole, event("e2")],
    );
  });

  check("an event id is unique; a second one rejects", async (store) => {
    await saved(store, { events: [event("e1")] });
    await assert.rejects(saved(store, { events: [event("e2"), event("e1")] }), { code: "store_conflict" });
    await store.registerHandlers([auditor]);
    same((await saved(store, { events: [event("e2")] })).takenEventKeys, []);
  });

  check("an event rolled back is never handed out", async (store) => {
    await store.registerHandlers([ledger]);
    const run = store.transaction(async (tx) => {
      await store.save(tx, { events: [event("e1")] });
      throw new Error("no");
    });
    await assert.rejects(run, /no/);
    same(await claimed(store, [ledger]), []);
  });

  check("a new handler starts with events saved from then on", async (store, another) => {
    await saved(store, { events: [event("e0")] });
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1")] });
    await another.registerHandlers([mailer]);
    await saved(store, { events: [event("e2")] });
    same(pairs(await claimed(store, [ledger])), ["e1 ledger", "e2 ledger"]);
    same(pairs(await claimed(another, [mailer])), ["e2 mailer"]);
  });

  check("registering again changes nothing, and a claim with limit 0 returns nothing", async (store) => {
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1")] });
    await store.registerHandlers([ledger]);
    same(await claimed(store, [ledger], { limit: 0 }), []);
    same(pairs(await claimed(store, [ledger])), ["e1 ledger"]);
  });

  check(
    "a claim with a handler that was never registered returns nothing and registers nothing",
    async (store) => {
      same(await claimed(store, [ledger]), []);
      await saved(store, { events: [event("e1")] });
      same(await claimed(store, [ledger]), []);
    },
  );

  check("dispatches of names that a claimer does not have stay for others", async (store, another) => {
    await store.registerHandlers([ledger]);
    await another.registerHandlers([mailer]);
    await saved(store, { events: [event("e1")] });
    same(pairs(await claimed(store, [ledger])), ["e1 ledger"]);
    same(pairs(await claimed(another, [mailer])), ["e1 mailer"]);
  });

  check(
    "one name for two events is claimed only for the events it is registered for",
    async (store, another) => {
      const overdue = { event: "payment.overdue", name: "ledger" } as const;
      await store.registerHandlers([ledger]);
      await another.registerHandlers([overdue]);
      await saved(store, { events: [event("e1", { type: "payment.overdue" }), event("e2")] });
      same(pairs(await claimed(store, [ledger])), ["e2 ledger"]);
      same(pairs(await claimed(another, [overdue])), ["e1 ledger"]);
    },
  );

  check("a name registered for one event and for all of them gets each event once", async (store) => {
    const both = [ledger, { event: "*", name: "ledger" }] as const;
    await store.registerHandlers(both);
    await saved(store, { events: [event("e1"), event("e2", { type: "payment.overdue" })] });
    same(pairs(await claimed(store, both)), ["e1 ledger", "e2 ledger"]);
  });

  check("a backlog larger than one round is handed out whole, oldest first", async (store) => {
    await store.registerHandlers([ledger]);
    const ids = Array.from({ length: 1200 }, (_, index) => `e${String(index).padStart(4, "0")}`);
    await saved(store, { events: ids.map((id) => event(id)) });
    const handedOut: string[] = [];
    while (handedOut.length <= ids.length) {
      const claims = await claimed(store, [ledger], { limit: 250 });
      if (claims.length === 0) break;
      handedOut.push(...claims.map((claim) => claim.event.id));
    }
    same(handedOut, ids);
  });
}

/** `event handler`, sorted. */
export function pairs(claims: readonly Claim[]): string[] {
  return claims.map((claim) => `${claim.event.id} ${claim.handler}`).toSorted();
}
