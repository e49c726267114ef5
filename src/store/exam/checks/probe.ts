import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setImmediate as nextIteration, setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { event, payment } from "./fixtures.js";
import { besideReads, type Checks, expectRolledBack, same, saved } from "./steps.js";

/** The number of transactions beside which the check of one step reads. */
const rounds = 8;

const apart =
  "A write of the application may have replaced a record of the kit: keep your own data in another table or key space.";

/** Checks of the application's own writes, which the store cannot see. */
export const probeChecks: Checks = {
  async "a write of the application commits with its transaction"(store, _, probe) {
    const [alone, ...keys] = Array.from({ length: 31 }, () => randomUUID());
    assert.equal(await probe.has(alone!), false);
    // Applications often name their rows by the clientId or the reference of a payment.
    const own = payment(keys[0]!, { reference: keys[1]! });
    await store.transaction(async (tx) => {
      await store.save(tx, { created: [own] });
      for (const key of keys) await probe.write(tx, key);
    });
    const stored = async () =>
      (await store.transaction((tx) => store.lock(tx, { references: [keys[1]!] }))).payments;
    const found = await Promise.all([store.find(keys[0]!), stored()]).catch((cause: unknown) => {
      throw new Error(`A payment was not read beside writes of its name${because(cause)} ${apart}`, {
        cause,
      });
    });
    same(found, [own, [own]], apart);
    await store.transaction(async (tx) => void (await probe.write(tx, alone!)));
    const there = await Promise.all([alone!, ...keys].map((key) => probe.has(key)));
    const missing = there.filter((isThere) => !isThere).length;
    assert.ok(
      missing === 0,
      `Transactions with 1 and 30 writes of the application resolved, and ${missing} are missing.`,
    );
  },

  async "a write of the application is rolled back where its transaction rejects"(store, _, probe) {
    await saved(store, { events: [event("e1")] });
    const keys = [randomUUID(), randomUUID()] as const;
    const thrown = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      await probe.write(tx, keys[0]);
      throw new Error("no");
    });
    await expectRolledBack(thrown);
    const refused = store.transaction(async (tx) => {
      await probe.write(tx, keys[1]);
      await store.save(tx, { events: [event("e1")] });
    });
    await assert.rejects(refused, { code: "store_conflict" });
    const left =
      "A write of the application is there, and its transaction was rolled back: it was not made with `tx`.";
    same(await Promise.all(keys.map((key) => probe.has(key))), [false, false], left);
  },

  async "a write of the application after the end of its transaction is not made"(store, _, probe) {
    const late: string[] = [];
    for (const isCommitted of [true, false]) {
      let ended: unknown;
      const run = store.transaction(async (tx) => {
        ended = tx;
        await probe.write(tx, randomUUID());
        if (!isCommitted) throw new Error("no");
      });
      await (isCommitted ? run : expectRolledBack(run));
      const key = randomUUID();
      late.push(key);
      try {
        await probe.write(ended, key);
      } catch {
        // Most stores refuse the write.
      }
    }
    const why =
      "A write was made after the end of its transaction, and so outside of it: refuse every statement of `tx` when `transaction` ends, because another transaction may have its connection then.";
    same(await Promise.all(late.map((key) => probe.has(key))), [false, false], why);
  },

  async "a write of the application appears in one step with the changes of its transaction"(
    store,
    another,
    probe,
  ) {
    const torn = "Make the writes of the application and the changes in one step:";
    for (let round = 0; round < rounds; round++) {
      const key = randomUUID();
      // A note, because a store reads it with one statement. A read of several statements can miss the step.
      const isNoted = async () => (await another.notes({ kind: "handler", ids: [key] })).length > 0;
      const read = async (): Promise<void> => {
        const before = await isNoted();
        const isThere = await probe.has(key);
        const after = await isNoted();
        assert.ok(isThere || !before, `${torn} a change was read, and not yet the write of the application.`);
        assert.ok(!isThere || after, `${torn} a write of the application was read, and not yet the changes.`);
      };
      await besideReads([read], () =>
        store.transaction(async (tx) => {
          await store.save(tx, { notes: [{ kind: "handler", id: key, version: 0, value: {} }] });
          await probe.write(tx, key);
          // The pauses differ, so that the reader does not see the same steps each time.
          for (let pauses = 0; pauses < round; pauses++) await nextIteration();
        }),
      );
    }
  },

  async "a run that meets a conflict rolls back the application's write"(store, another, probe) {
    await saved(store, { created: [payment("p1")] });
    const keys: string[] = [];
    let changing: Promise<unknown> | undefined;
    await store.transaction(async (tx) => {
      keys.push(randomUUID());
      await store.lock(tx, { clientIds: ["p1"] });
      await probe.write(tx, keys.at(-1)!);
      changing ??= another.transaction(async (other) => {
        await another.lock(other, { clientIds: ["p1"] });
        await another.save(other, { updated: [payment("p1", { status: "changed" })] });
      });
      // A store that locks makes the other transaction wait.
      await Promise.race([changing, delay(100)]);
      await store.save(tx, { updated: [payment("p1", { status: "completed" })] });
    });
    await changing;
    const committed = await Promise.all(keys.map((key) => probe.has(key)));
    const only = keys.map((_, run) => run === keys.length - 1);
    same(committed, only, "Writes of the application commit only with the run that commits.");
  },
};

/** Checks of writes that the database refuses (`probe.refused`). */
export const refusedChecks: Checks = {
  async "a write of the application that the database refuses rejects its transaction, with everything in it"(
    store,
    _,
    probe,
  ) {
    const key = randomUUID();
    let runs = 0;
    const refused = store.transaction(async (tx) => {
      runs += 1;
      await store.save(tx, { created: [payment("p1")] });
      await probe.write(tx, key);
      await probe.refused!(tx);
    });
    const error: unknown = await refused.then(
      () => assert.fail("the transaction resolved without the refused write"),
      (thrown: unknown) => thrown,
    );
    const { code, message } = error as { code?: unknown; message?: unknown };
    const told = `write returned false ${runs} times for a write that the database refuses: reject with store_conflict`;
    assert.ok(code !== "store_busy", told);
    const counts = `it rejected with store_unavailable (${String(message)}): reject with the error of the statement, or with store_conflict, so that the run counts as failed`;
    assert.ok(code !== "store_unavailable", counts);
    const left =
      "The transaction rejected, and a part of it is there: write all of it in one step, or nothing.";
    same([await store.find("p1"), await probe.has(key)], [undefined, false], left);
  },

  async "after writes of the application that the database refuses, the next transaction commits"(
    store,
    _,
    probe,
  ) {
    const refused = () => resolves(store.transaction(async (tx) => void (await probe.refused!(tx))));
    for (let index = 0; index < 30; index++) await refused();
    await saved(store, { created: [payment("p1")] }).catch((cause: unknown) => {
      throw new Error(`The next transaction failed${because(cause)} ${released}`, { cause });
    });
    assert.ok(await store.find("p1"), "The payment of the next transaction is missing.");
    const keys = [randomUUID(), randomUUID()] as const;
    const normal = keys.map((key) => store.transaction(async (tx) => void (await probe.write(tx, key))));
    await Promise.all([refused(), normal[0], refused(), normal[1]]).catch((cause: unknown) => {
      throw new Error(`A transaction beside refused ones failed${because(cause)} ${alone}`, { cause });
    });
    same(await Promise.all(keys.map((key) => probe.has(key))), [true, true], alone);
  },

  async "a transaction whose application swallowed a refused write resolves only if its other writes are there"(
    store,
    _,
    probe,
  ) {
    const key = randomUUID();
    const swallowing = store.transaction(async (tx) => {
      await probe.write(tx, key);
      try {
        await probe.refused!(tx);
      } catch {
        // Application code swallows such an error if it tries an insert before an update.
      }
    });
    const resolved = await resolves(swallowing);
    const why = "the transaction resolved and was rolled back: look at the answer of its commit";
    assert.ok((await probe.has(key)) === resolved, why);
  },
};

/** Waits for the transaction, and returns whether it resolved. */
function resolves(transaction: Promise<unknown>): Promise<boolean> {
  return transaction.then(
    () => true,
    () => false,
  );
}

const alone =
  "A refused write must not affect other transactions: if you commit several in one group, repeat the group without it.";

const released =
  "A refused write must release its connection and its lock, and later writes must not get its error.";

const uncoded =
  "The statement of a lost connection must reject with a TillkitError store_unavailable, so that the run does not count as failed. It rejected with another error";
const pooled = "Do not give a lost connection back to the pool.";

/** Checks of a lost connection (`probe.cut`). */
export const cutChecks: Checks = {
  async "a transaction whose connection is lost rejects, leaves nothing, and others go on"(store, _, probe) {
    const key = randomUUID();
    const cut = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      await probe.write(tx, key);
      await probe.cut!(tx);
      await probe.write(tx, randomUUID());
    });
    const resolved =
      "The transaction resolved although its connection was lost, or `cut` does not end the connection of `tx`.";
    const error: unknown = await cut.then(
      () => assert.fail(resolved),
      (thrown: unknown) => thrown,
    );
    await saved(store, { created: [payment("p2")] }).catch((cause: unknown) => {
      throw new Error(`The next transaction failed${because(cause)} ${pooled}`, { cause });
    });
    const left = "A part of a transaction is there whose connection was lost.";
    same([await store.find("p1"), await probe.has(key)], [undefined, false], left);
    assert.ok(await store.find("p2"), "a payment that was stored later is missing");
    assert.ok(hasCode(error, "store_unavailable"), `${uncoded}${because(error)}`);
  },

  async "a transaction whose connection is lost before its commit resolves only if its writes are there"(
    store,
    _,
    probe,
  ) {
    const key = randomUUID();
    const cut = store.transaction(async (tx) => {
      await probe.write(tx, key);
      await probe.cut!(tx);
    });
    const resolved = await resolves(cut);
    const why =
      "The transaction resolved although its connection was lost before the commit, and its write is missing: let `transaction` reject if the commit fails.";
    assert.ok(!resolved || (await probe.has(key)), why);
  },
};
