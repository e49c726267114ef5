import assert from "node:assert/strict";
import { TillkitError } from "../../../errors/index.js";
import { type PaymentStore } from "../../contract.js";
import { ledger, mailer, payment } from "./fixtures.js";
import {
  type Checks,
  claimed,
  concurrently,
  expectRolledBack,
  firstClaim,
  leased,
  runOf,
  same,
  settled,
  until,
  withEvents,
} from "./steps.js";

/** Checks of `settle`: the states of a dispatch, and the transaction of a settlement. */
export const settlementChecks: Checks = {
  async "a dispatch that is done is never claimed again"(store, another) {
    const claim = await leased(store);
    assert.equal(await settled(store, claim, { state: "done" }), true);
    await neverAgain(another);
  },

  async "a dispatch that is dead is never claimed again"(store, another) {
    const claim = await leased(store);
    assert.equal(await settled(store, claim, { state: "dead", error: "gave up: é" }), true);
    await neverAgain(another);
  },

  async "a failed dispatch is claimed again after its wait, with one failure more"(store, another) {
    const claim = await leased(store);
    const from = performance.now();
    const failed = { state: "failed", retryInMs: 400.5, error: "x".repeat(2000) } as const;
    assert.equal(await settled(store, claim, failed), true);
    const again = await firstClaim(another, [ledger]);
    assert.ok(performance.now() - from >= 390, "it was claimed before its wait was over");
    same(again, { ...claim, fence: 2, attempt: 2, failures: 1 });
    await settled(another, again, { state: "failed", retryInMs: 0 });
    same(await firstClaim(store, [ledger]), { ...claim, fence: 3, attempt: 3, failures: 2 });
  },

  async "a released dispatch is claimed again immediately or after its wait, and only its fence has changed"(
    store,
    another,
  ) {
    const claim = await leased(store);
    assert.equal(await settled(store, claim, { state: "released" }), true);
    const [again] = await claimed(another, [ledger]);
    same(again, { ...claim, fence: 2 });
    const from = performance.now();
    assert.equal(await settled(store, again!, { state: "released", retryInMs: 400 }), true);
    same(await firstClaim(another, [ledger]), { ...claim, fence: 3 });
    assert.ok(performance.now() - from >= 390, "it was claimed before its wait was over");
  },

  async "an old fence settles nothing"(store, another) {
    const old = await leased(store, 50);
    const current = await firstClaim(another, [ledger]);
    for (const state of ["done", "failed", "released", "dead"] as const)
      assert.equal(await settled(store, old, { state, retryInMs: 0, error: "late" }), false);
    same(await claimed(store, [ledger]), []);
    assert.equal(await settled(another, current, { state: "released" }), true);
    const [next] = await claimed(store, [ledger]);
    same(next, { ...current, fence: 3 });
  },

  async "a dispatch that is not leased cannot be settled"(store) {
    const claim = await leased(store);
    await settled(store, claim, { state: "released" });
    assert.equal(await settled(store, claim, { state: "done" }), false);
    const [again] = await claimed(store, [ledger]);
    assert.equal(await settled(store, again!, { state: "done" }), true);
    assert.equal(await settled(store, again!, { state: "failed", retryInMs: 0 }), false);
    assert.equal(await settled(store, { ...again!, handler: "nobody" }, { state: "done" }), false);
    await neverAgain(store);
  },

  async "of many concurrent settlements of one run, one succeeds"(store, another) {
    const claim = await leased(store);
    const answers = await concurrently(10, [store, another], (mine) =>
      settled(mine, claim, { state: "done" }),
    );
    assert.equal(answers.filter(Boolean).length, 1);
  },

  async "a settlement of one handler's run leaves the other handler's run unchanged"(store) {
    await withEvents(store, [ledger, mailer], 1);
    const claims = await claimed(store, [ledger, mailer]);
    const byName = new Map(claims.map((claim) => [claim.handler, claim]));
    await settled(store, byName.get("ledger")!, { state: "failed", retryInMs: 0 });
    assert.equal(await settled(store, byName.get("mailer")!, { state: "done" }), true);
    const again = await until(async () => {
      const found = await claimed(store, [ledger, mailer]);
      return found.length > 0 ? found : undefined;
    });
    const failed = again.map(({ handler, failures }) => [handler, failures]);
    same(failed, [["ledger", 1]]);
  },

  async "a settlement is rolled back with its transaction"(store, another) {
    const claim = await leased(store, 100);
    const run = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      assert.equal(await store.settle(tx, { ...runOf(claim), state: "done" }), true);
      throw new Error("no");
    });
    await expectRolledBack(run);
    assert.equal(await store.find("p1"), undefined);
    assert.equal((await firstClaim(another, [ledger])).attempt, 2);
  },

  async "a settlement commits in one transaction with the handler's writes"(store, another) {
    const claim = await leased(store);
    await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      assert.equal(await store.settle(tx, { ...runOf(claim), state: "done" }), true);
    });
    assert.ok(await another.find("p1"));
    await neverAgain(another);
  },

  async "a last settlement commits with its transaction, or all of it is rolled back"(store, another) {
    const old = await leased(store, 50);
    const current = await firstClaim(another, [ledger]);
    const late = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      if (!(await store.settle(tx, { ...runOf(old), state: "done", isLast: true })))
        throw new TillkitError("lease_lost", "It was lost.");
    });
    await assert.rejects(late, { code: "lease_lost" });
    assert.equal(await another.find("p1"), undefined);

    await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p2")] });
      assert.equal(await store.settle(tx, { ...runOf(current), state: "done", isLast: true }), true);
    });
    assert.ok(await another.find("p2"));
    assert.equal(await settled(store, current, { state: "done" }), false);
    await neverAgain(another);
  },

  async "a part of a shared transaction is rolled back alone, and the others commit with their settlements"(
    store,
    another,
  ) {
    if (!store.runShared) return;
    await withEvents(store, [ledger], 3);
    const claims = await claimed(store, [ledger]);
    await store.runShared(async (part) => {
      await part((tx) => store.save(tx, { created: [payment("p1")] }));
      const failing = part(async (tx) => {
        await store.save(tx, { created: [payment("p2")] });
        throw new Error("no");
      });
      await expectRolledBack(failing);
      await part((tx) => store.save(tx, { created: [payment("p3")] }));
      return [runOf(claims[0]!), runOf(claims[2]!)];
    });
    const found = await Promise.all(["p1", "p2", "p3"].map((id) => another.find(id)));
    same(
      found.map((one) => one?.clientId),
      ["p1", undefined, "p3"],
    );
    const ends = claims.map((claim) => settled(another, claim, { state: "done" }));
    same(await Promise.all(ends), [false, true, false]);
  },

  async "a shared transaction in which one run lost its lease commits nothing"(store, another) {
    if (!store.runShared) return;
    await withEvents(store, [ledger], 2);
    const claims = await claimed(store, [ledger]);
    const work = store.runShared(async (part) => {
      await part((tx) => store.save(tx, { created: [payment("p1")] }));
      return claims.map((claim, index) => ({ ...runOf(claim), fence: claim.fence - index }));
    });
    await assert.rejects(work, { code: "lease_lost" });
    assert.equal(await another.find("p1"), undefined);
    const ends = claims.map((claim) => settled(another, claim, { state: "done" }));
    same(await Promise.all(ends), [true, true]);
  },
};

async function neverAgain(store: PaymentStore): Promise<void> {
  same(await claimed(store, [ledger]), []);
}
