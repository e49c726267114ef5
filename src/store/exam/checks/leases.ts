import assert from "node:assert/strict";
import { because } from "../../../shared/because.js";
import { ledger } from "./fixtures.js";
import {
  type Checks,
  claimed,
  firstClaim,
  lastingMs,
  leased,
  runOf,
  same,
  settled,
  until,
  withEvents,
} from "./steps.js";

/** Checks of leases, whose times come from the store's own clock. */
export const leaseChecks: Checks = {
  async "a lease that ended is taken over, with the next fence and attempt and no failure"(store, another) {
    const first = await leased(store, 100);
    const second = await firstClaim(another, [ledger]);
    same(second, { ...first, fence: 2, attempt: 2 });
    same(await claimed(store, [ledger]), []);
  },

  async "a lease does not end early"(store, another) {
    await withEvents(store, [ledger], 1);
    const from = performance.now();
    await claimed(store, [ledger], { leaseMs: 200 });
    await firstClaim(another, [ledger]);
    const lasted = performance.now() - from;
    assert.ok(lasted >= 190, `the lease of 200 ms lasted ${lasted} ms`);
  },

  async "a lease and a wait last as long as their own process has set, whatever lease the next claimer asks for"(
    store,
    another,
  ) {
    const first = await leased(store, 3_600_000);
    for (const leaseMs of [1, 60_000, 7_200_000]) same(await claimed(another, [ledger], { leaseMs }), []);
    assert.equal(await settled(store, first, { state: "failed", retryInMs: 3_600_000 }), true);
    for (const leaseMs of [1, 60_000, 7_200_000]) same(await claimed(another, [ledger], { leaseMs }), []);
  },

  async "a lease ends although the claimer's own clock stands still"(store, another) {
    await leased(store, 100);
    const { now } = Date;
    const frozen = now();
    try {
      Date.now = () => frozen;
      const ownClock =
        "A lease did not end while Date.now stood still: take the time from the database, not from the process";
      await firstClaim(another, [ledger]).catch((cause: unknown) => {
        throw new Error(`${ownClock}${because(cause)}`, { cause });
      });
    } finally {
      Date.now = now;
    }
  },
};

/** Checks of `renew`. */
export const renewalChecks: Checks = {
  async "a renewed lease outlasts its first end"(store, another) {
    const run = runOf(await leased(store, 100));
    assert.equal(await store.renew(run, lastingMs), true);
    const ended = performance.now() + 200;
    await until(async () => {
      same(await claimed(another, [ledger]), []);
      return performance.now() > ended || undefined;
    });
  },

  async "a renewed lease ends leaseMs after the renewal, and not after its first end"(store, another) {
    const first = await leased(store);
    assert.equal(await store.renew(runOf(first), 100), true);
    same(await firstClaim(another, [ledger]), { ...first, fence: 2, attempt: 2 });
  },

  async "a lease that was taken over, settled or never given cannot be renewed"(store, another) {
    const run = runOf(await leased(store, 100));
    const next = await firstClaim(another, [ledger]);
    assert.equal(await store.renew(run, lastingMs), false);
    assert.equal(await store.renew({ ...run, eventId: "never seen" }, lastingMs), false);
    assert.equal(await another.renew(runOf(next), lastingMs), true);
    await settled(store, next, { state: "done" });
    assert.equal(await another.renew(runOf(next), lastingMs), false);
  },
};
