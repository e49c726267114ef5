import assert from "node:assert/strict";
import { TillkitError } from "../../../errors/index.js";
import { type Claim, type PaymentStore, type Settlement } from "../../payment-store.js";
import { withEvents } from "./claims.js";
import { claimed, type Exam, firstClaim, until } from "./exam.js";
import { ledger, mailer, payment } from "./fixtures.js";
import { same } from "./same.js";

export function settleChecks<Tx>({ check }: Exam<Tx>): void {
  check("done is never handed out again", async (store, another) => {
    const claim = await oneClaim(store);
    assert.equal(await settled(store, claim, { state: "done" }), true);
    await neverAgain(another);
  });

  check("dead is never handed out again", async (store, another) => {
    const claim = await oneClaim(store);
    assert.equal(await settled(store, claim, { state: "dead", error: "gave up: é" }), true);
    await neverAgain(another);
  });

  check("failed comes back after its wait, with one failure more", async (store, another) => {
    const claim = await oneClaim(store);
    const from = performance.now();
    assert.equal(
      await settled(store, claim, { state: "failed", retryInMs: 150.5, error: "x".repeat(2000) }),
      true,
    );
    const again = await firstClaim(another, [ledger]);
    assert.ok(performance.now() - from >= 140, "it came back before its wait was over");
    same(again, { ...claim, fence: 2, attempt: 2, failures: 1 });
    await settled(another, again, { state: "failed", retryInMs: 0 });
    same(await firstClaim(store, [ledger]), { ...claim, fence: 3, attempt: 3, failures: 2 });
  });

  check("released comes back at once, with nothing counted but the fence", async (store, another) => {
    const claim = await oneClaim(store);
    assert.equal(await settled(store, claim, { state: "released" }), true);
    const [again] = await claimed(another, [ledger]);
    same(again, { ...claim, fence: 2 });
  });

  check("an old fence settles nothing", async (store, another) => {
    await withEvents(store, [ledger], 1);
    const [old] = await claimed(store, [ledger], { leaseMs: 50 });
    const current = await firstClaim(another, [ledger]);
    for (const state of ["done", "failed", "released", "dead"] as const)
      assert.equal(await settled(store, old!, { state, retryInMs: 0, error: "late" }), false);
    same(await claimed(store, [ledger]), []);
    assert.equal(await settled(another, current, { state: "released" }), true);
    const [next] = await claimed(store, [ledger]);
    same(next, { ...current, fence: 3 });
  });

  check("what is not leased settles nothing", async (store) => {
    const claim = await oneClaim(store);
    await settled(store, claim, { state: "released" });
    assert.equal(await settled(store, claim, { state: "done" }), false);
    const [again] = await claimed(store, [ledger]);
    assert.equal(await settled(store, again!, { state: "done" }), true);
    assert.equal(await settled(store, again!, { state: "failed", retryInMs: 0 }), false);
    assert.equal(await settled(store, { ...again!, handler: "nobody" }, { state: "done" }), false);
    await neverAgain(store);
  });

  check("a settlement rolled back with its transaction is as if it never was", async (store, another) => {
    await withEvents(store, [ledger], 1);
    const [claim] = await claimed(store, [ledger], { leaseMs: 100 });
    const run = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      assert.equal(await store.settle(tx, settlementOf(claim!, { state: "done" })), true);
      throw new Error("no");
    });
    await assert.rejects(run, /no/);
    assert.equal(await store.find("p1"), undefined);
    assert.equal((await firstClaim(another, [ledger])).attempt, 2);
  });

  check("a settlement commits together with the handler's writes", async (store, another) => {
    const claim = await oneClaim(store);
    await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      assert.equal(await store.settle(tx, settlementOf(claim, { state: "done" })), true);
    });
    assert.ok(await another.find("p1"));
    await neverAgain(another);
  });

  check("a last settlement commits with its transaction, or nothing of it does", async (store, another) => {
    await withEvents(store, [ledger], 1);
    const [old] = await claimed(store, [ledger], { leaseMs: 50 });
    const current = await firstClaim(another, [ledger]);
    const late = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      if (!(await store.settle(tx, settlementOf(old!, { state: "done", isLast: true }))))
        throw new TillkitError("lease_lost", "It was lost.");
    });
    await assert.rejects(late, { code: "lease_lost" });
    assert.equal(await another.find("p1"), undefined);

    await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p2")] });
      const settling = store.settle(tx, settlementOf(current, { state: "done", isLast: true }));
      assert.equal(await settling, true);
    });
    assert.ok(await another.find("p2"));
    assert.equal(await settled(store, current, { state: "done" }), false);
    await neverAgain(another);
  });

  check("of many who settle one run, one does", async (store, another) => {
    const claim = await oneClaim(store);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        settled(index % 2 === 0 ? store : another, claim, { state: "done" }),
      ),
    );
    assert.equal(answers.filter(Boolean).length, 1);
  });

  check("settling one handler's run leaves the other's alone", async (store) => {
    await withEvents(store, [ledger, mailer], 1);
    const claims = await claimed(store, [ledger, mailer]);
    const byName = new Map(claims.map((claim) => [claim.handler, claim]));
    await settled(store, byName.get("ledger")!, { state: "failed", retryInMs: 0 });
    assert.equal(await settled(store, byName.get("mailer")!, { state: "done" }), true);
    const again = await until(async () => {
      const found = await claimed(store, [ledger, mailer]);
      return found.length > 0 ? found : undefined;
    });
    same(
      again.map(({ handler, failures }) => [handler, failures]),
      [["ledger", 1]],
    );
  });
}

async function oneClaim<Tx>(store: PaymentStore<Tx>): Promise<Claim> {
  await withEvents(store, [ledger], 1);
  const [claim] = await claimed(store, [ledger]);
  return claim!;
}

async function neverAgain<Tx>(store: PaymentStore<Tx>): Promise<void> {
  same(await claimed(store, [ledger]), []);
}

type How = Omit<Settlement, "eventId" | "handler" | "fence">;

function settlementOf(claim: Claim, how: How): Settlement {
  return { eventId: claim.event.id, handler: claim.handler, fence: claim.fence, ...how };
}

function settled<Tx>(store: PaymentStore<Tx>, claim: Claim, how: How): Promise<boolean> {
  return store.transaction((tx) => store.settle(tx, settlementOf(claim, how)));
}
