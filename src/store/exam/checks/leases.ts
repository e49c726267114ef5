import assert from "node:assert/strict";
import { claimed, type Exam, firstClaim, until } from "./exam.js";
import { withEvents } from "./claims.js";
import { ledger } from "./fixtures.js";
import { same } from "./same.js";

const brief = { leaseMs: 100 };

export function leaseChecks<Tx>({ check, has }: Exam<Tx>): void {
  check(
    "a lease that ended is taken over, with the next fence and attempt and no failure",
    async (store, another) => {
      await withEvents(store, [ledger], 1);
      const [first] = await claimed(store, [ledger], brief);
      const second = await firstClaim(another, [ledger]);
      same(second, { ...first, fence: 2, attempt: 2 });
      same(await claimed(store, [ledger]), []);
    },
  );

  check("a lease does not end early", async (store, another) => {
    await withEvents(store, [ledger], 1);
    const from = performance.now();
    await claimed(store, [ledger], { leaseMs: 200 });
    await firstClaim(another, [ledger]);
    const lasted = performance.now() - from;
    assert.ok(lasted >= 190, `the lease of 200 ms lasted ${lasted} ms`);
  });

  check("a lease ends although the claimer's own clock stands still", async (store, another) => {
    await withEvents(store, [ledger], 1);
    await claimed(store, [ledger], brief);
    const { now } = Date;
    const frozen = now();
    try {
      Date.now = () => frozen;
      await firstClaim(another, [ledger]);
    } finally {
      Date.now = now;
    }
  });

  if (!has("renew")) return;

  check("a renewed lease outlasts its first end", async (store, another) => {
    await withEvents(store, [ledger], 1);
    const [claim] = await claimed(store, [ledger], brief);
    const run = { eventId: claim!.event.id, handler: "ledger", fence: claim!.fence };
    assert.equal(await store.renew!(run, 60_000), true);
    const ended = performance.now() + 2 * brief.leaseMs;
    await until(async () => {
      same(await claimed(another, [ledger]), []);
      return performance.now() > ended || undefined;
    });
  });

  check("a lease that was taken over, settled or never given cannot be renewed", async (store, another) => {
    await withEvents(store, [ledger], 1);
    const [claim] = await claimed(store, [ledger], brief);
    const run = { eventId: claim!.event.id, handler: "ledger", fence: claim!.fence };
    const next = await firstClaim(another, [ledger]);
    assert.equal(await store.renew!(run, 60_000), false);
    assert.equal(await store.renew!({ ...run, eventId: "never seen" }, 60_000), false);
    const taken = { ...run, fence: next.fence };
    assert.equal(await another.renew!(taken, 60_000), true);
    await store.transaction((tx) => store.settle(tx, { ...taken, state: "done" }));
    assert.equal(await another.renew!(taken, 60_000), false);
  });
}
