import assert from "node:assert/strict";
import { type HandlerKey, type PaymentStore } from "../../payment-store.js";
import { claimed, type Exam, saved } from "./exam.js";
import { pairs } from "./expansion.js";
import { event, ledger, mailer } from "./fixtures.js";
import { same } from "./same.js";

export function claimChecks<Tx>({ check }: Exam<Tx>): void {
  check("a first claim has fence 1, attempt 1 and no failures", async (store) => {
    await withEvents(store, [ledger], 1);
    const [claim] = await claimed(store, [ledger]);
    same(claim, { event: event("e0"), handler: "ledger", fence: 1, attempt: 1, failures: 0 });
  });

  check("a claim takes no more than its limit, oldest events first", async (store) => {
    await withEvents(store, [ledger], 5);
    const first = await claimed(store, [ledger], { limit: 2 });
    same(
      first.map((claim) => claim.event.id),
      ["e0", "e1"],
    );
    const rest = await claimed(store, [ledger], { limit: 10 });
    same(
      rest.map((claim) => claim.event.id),
      ["e2", "e3", "e4"],
    );
  });

  check("oldest first holds across handlers too", async (store) => {
    const late: HandlerKey = { event: "payment.overdue", name: "a-late-name" };
    await store.registerHandlers([ledger, late]);
    await saved(store, { events: [event("e1")] });
    await saved(store, { events: [event("e2", { type: "payment.overdue" })] });
    same(pairs(await claimed(store, [late, ledger], { limit: 1 })), ["e1 ledger"]);
  });

  check("what is claimed is not handed out again while its lease lasts", async (store, another) => {
    await withEvents(store, [ledger], 3);
    assert.equal((await claimed(store, [ledger])).length, 3);
    same(await claimed(store, [ledger]), []);
    same(await claimed(another, [ledger]), []);
  });

  check("many claimers at once share the events without overlap", async (store, another) => {
    const count = 60;
    await withEvents(store, [ledger, mailer], count);
    await another.registerHandlers([ledger, mailer]);
    const taken: string[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const mine = index % 2 === 0 ? store : another;
        for (let empty = 0; empty < 3 && taken.length <= count * 2;) {
          const claims = await claimed(mine, [ledger, mailer], { limit: 7 });
          if (claims.length === 0) empty++;
          taken.push(...pairs(claims));
        }
      }),
    );
    taken.push(...pairs(await claimed(store, [ledger, mailer], { limit: 1000 })));
    assert.equal(new Set(taken).size, taken.length, "a dispatch was handed out twice");
    assert.equal(taken.length, count * 2);
  });

  check("claimers that race events being saved miss none and take none twice", async (store, another) => {
    await store.registerHandlers([ledger]);
    await another.registerHandlers([ledger]);
    const taken: string[] = [];
    const claimSome = async (mine: PaymentStore<Tx>): Promise<void> => {
      taken.push(...pairs(await claimed(mine, [ledger], { limit: 5 })));
    };
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        await saved(index % 2 === 0 ? another : store, { events: [event(`e${index}`)] });
        await claimSome(index % 3 === 0 ? another : store);
      }),
    );
    taken.push(...pairs(await claimed(store, [ledger], { limit: 100 })));
    assert.equal(taken.length, 30);
    assert.equal(new Set(taken).size, 30);
  });

  check("claimers that register at once hand each event to each handler once", async (store, another) => {
    await Promise.all(
      [store, another, store, another].map((mine) => mine.registerHandlers([ledger, mailer])),
    );
    await saved(store, { events: [event("e0")] });
    same(pairs(await claimed(another, [mailer, ledger])), ["e0 ledger", "e0 mailer"]);
  });
}

/** Remembers the handlers, then saves events e0, e1, … */
export async function withEvents<Tx>(
  store: PaymentStore<Tx>,
  handlers: readonly HandlerKey[],
  count: number,
): Promise<void> {
  await store.registerHandlers(handlers);
  const ids = Array.from({ length: count }, (_, index) => `e${index}`);
  await saved(store, { events: ids.map((id) => event(id)) });
}
