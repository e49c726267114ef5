import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { storeOver } from "../../index.js";
import { type Adapter, Operations } from "../../over/adapter/operations.js";
import { payment } from "./fixtures.js";
import { examChange, expectWritten, readNamed, scan, written } from "./adapter-steps.js";
import { type Checks, expectRolledBack, same, saved } from "./steps.js";

/** Checks of the reads of an adapter's concurrent transactions, and of rollbacks. */
export const adapterTransactionChecks: Checks<Adapter> = {
  async "read and scan with tx see what its transaction wrote, and nobody else does"(adapter, other) {
    if (!adapter.transaction) return;
    await expectWritten(adapter, [examChange("d", 0), examChange("u", 0)]);
    let outside: Promise<string[][]> | undefined;
    let seen: string[] = [];
    const names = ["a", "d", "u"];
    const look = async () =>
      Promise.all([adapter, other].flatMap((one) => [readNamed(one, names), scan(one, "a", "v")]));
    const rolledBack = new Operations(adapter).transaction(async (tx, write) => {
      await write([examChange("a", 0), examChange("d", 1, null), examChange("u", 1, '"2"')]);
      seen = [...(await readNamed(adapter, names, tx)), ...(await scan(adapter, "a", "v", {}, tx))];
      outside = look();
      // A database with one connection makes the outside read wait.
      await Promise.race([outside, delay(100)]);
      throw new Error("no");
    });
    await expectRolledBack(rolledBack);
    const own = "With tx, an insert, an update or a deletion of its transaction was not seen.";
    same(seen, ['exam/a 1 "1"', 'exam/u 2 "2"', "a", "u"], own);
    const old = ['exam/d 1 "1"', 'exam/u 1 "1"'];
    const before = [old, ["d", "u"], old, ["d", "u"]];
    same(await outside, before, "Without tx, a change was seen that was not committed.");
    const left = "A transaction was rolled back, and its insert, its update or its deletion is there.";
    same(await look(), before, left);
    await expectWritten(adapter, [examChange("a", 0), examChange("d", 1, null), examChange("u", 1)]);
  },

  async "with tx, read and scan return what others have committed since its transaction began"(
    adapter,
    other,
  ) {
    if (!adapter.transaction) return;
    await expectWritten(adapter, [examChange("a", 0)]);
    let changing: Promise<boolean> | undefined;
    await new Operations(adapter).transaction(async (tx) => {
      await readNamed(adapter, ["a"], tx);
      await scan(adapter, "a", "b", {}, tx);
      changing = written(other, [examChange("a", 1), examChange("a!", 0)]);
      // A database that runs one transaction at a time makes this change wait.
      if (!(await Promise.race([changing, delay(100)]))) return;
      const found = [...(await readNamed(adapter, ["a"], tx)), ...(await scan(adapter, "a", "b", {}, tx))];
      const snapshot =
        "With tx, an old snapshot was read, from which a renewed lease is lost: use read committed.";
      same(found, ['exam/a 2 "1"', "a", "a!"], snapshot);
    });
    await changing;
  },

  async "of two open transactions one rolls back alone, and the other commits alone"(adapter) {
    if (!adapter.transaction) return;
    const txs = new Set<object>();
    let second: Promise<unknown> | undefined;
    const first = new Operations(adapter).transaction(async (tx, write) => {
      txs.add(tx);
      await write([examChange("a", 0)]);
      // The second transaction starts inside the first one, as a lease is renewed while a handler runs.
      second ??= written(adapter, [examChange("b", 0)], (inner) => txs.add(inner));
      await Promise.race([second, delay(100)]);
      throw new Error("no");
    });
    await expectRolledBack(first);
    await second;
    const shared =
      "A transaction took part in another one: each needs its own connection, or waits, also if one begins inside of the other.";
    same(await readNamed(adapter, ["a", "b"]), ['exam/b 1 "1"'], shared);
    await written(adapter, [examChange("c", 0)], (tx) => txs.add(tx));
    assert.ok(txs.size > 2, "Two transactions got one object as their tx: make one for each.");
  },

  async "what write did is rolled back where it returned false or its transaction rejects"(adapter, other) {
    if (!adapter.transaction) return;
    await saved(storeOver(adapter), { created: [payment("p1")] });
    for (const end of [async () => false, () => Promise.reject(new Error("no"))]) {
      const write: typeof adapter.write = (changes, tx) => adapter.write(changes, tx).then(end);
      const get = (target: typeof adapter, name: string): unknown =>
        name === "write" ? write : Reflect.get(target, name);
      const failing = storeOver(new Proxy(adapter, { get }), { busyTimeoutMs: 0 });
      // The check uses a payment, because a store may have separate columns for payments.
      await assert.rejects(saved(failing, { updated: [payment("p1", { status: "changed" })] }));
      same(await storeOver(other as typeof adapter).find("p1"), payment("p1"));
    }
  },
};
