import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isTillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { withTimeout } from "../../../shared/with-timeout.js";
import { type RecordChange } from "../../index.js";
import { type Adapter, Operations } from "../../over/adapter/operations.js";
import { examChange, examKey, expectWritten, readNamed, scan, written } from "./adapter-steps.js";
import { besideReads, type Checks, expectRolledBack, same, type StoreProbe } from "./steps.js";

/** Checks of `write`: all or nothing, and the results of conflicts. */
export const adapterWriteChecks: Checks<Adapter> = {
  async "write returns false and writes nothing where any record has another version"(adapter, other) {
    await expectWritten(adapter, [examChange("b", 0), examChange("c", 0)]);
    // An adapter that remembers what it has read would still find the old value here.
    await readNamed(adapter, ["b"]);
    await expectWritten(other, [examChange("b", 1), examChange("c", 1)]);
    const expectSame = async (): Promise<void> => {
      const names = ["a", "b", "c", "d"];
      for (const one of [adapter, other])
        same(await readNamed(one, names), ['exam/b 2 "1"', 'exam/c 2 "1"'], unlike);
    };
    const wrong = [0, 1, 3].map((version) => examChange("b", version));
    const deleting = [1, 3].map((version) => examChange("b", version, null));
    for (const one of [...wrong, ...deleting, examChange("d", 1), examChange("d", 1, null)]) {
      const isDone = await written(adapter, [examChange("a", 0), one, examChange("c", 2)]);
      assert.ok(
        !isDone,
        `write returned true for ${JSON.stringify(one)}, and exam/b has version 2, exam/d none. ${ownVersion}`,
      );
      await expectSame();
    }
    for (const one of [...wrong.slice(1), ...deleting, examChange("d", 1, null)]) {
      const isDone = await written(adapter, [examChange("c", 2, one.value), one]);
      const alone = `write returned true for ${one.value === null ? "deletions" : "updates"} alone`;
      assert.ok(!isDone, `${alone}, of which ${one.key} has another version: compare it there too.`);
      await expectSame();
    }
    await expectWritten(adapter, [examChange("a", 0), examChange("c", 2)]);
  },

  async "write makes many changes in one step, all of them or none"(adapter, other) {
    const count = await affordableCount(adapter);
    const many = Array.from({ length: count }, (_, index) => `m${index + 1000}`);
    const range = { limit: count };
    const all = many.map((name) => examChange(name, 0));
    const left = `${count} changes were written in several steps: write returned false, and left some.`;
    // A write in parts may compare the versions of one part only.
    for (const [place, at] of [["last", count] as const, ["first", 0] as const]) {
      const changes = all.slice(1).toSpliced(at, 0, examChange("m9", 1));
      const isDone = await written(adapter, changes).catch((cause: unknown) => {
        const told = isTillkitError(cause) ? cause : (cause as Error).cause;
        throw new Error(`A write of ${count} changes rejected${because(told)} ${fewer}`, { cause });
      });
      const why = `write returned true, and the ${place} of ${count} changes expected another version.`;
      assert.ok(!isDone, why);
      same(await scan(other, "m", "n", range), [], left);
    }
    const ends = async (): Promise<void> => {
      const [first, last] = [
        await readNamed(other, many.slice(0, 1)),
        await readNamed(other, many.slice(-1)),
      ];
      const why = `${count} changes were written in several steps: the first record was read, and then not yet the last one.`;
      assert.ok(last.length >= first.length, why);
    };
    await besideReads([ends], () => expectWritten(adapter, all));
    same(await scan(other, "m", "n", range), many, `A write of ${count} changes returned true.`);
    const [deleted, lasting] = [0, 1].map((rest) => many.filter((_, index) => index % 2 === rest));
    const deleting = deleted!.map((name) => examChange(name, 1, null));
    await expectWritten(adapter, deleting);
    const hidden = "Records that were deleted count in `limit`.";
    same(await scan(other, "m", "n", { limit: 3 }), lasting!.slice(0, 3), hidden);
  },

  async "transactions that reject or return false give back what they hold: a connection, a lock"(adapter) {
    await expectWritten(adapter, [examChange("a", 0)]);
    const repeated =
      "write returned true for a change that had been made before: compare its version each time, also of a repeated request.";
    let runs = 0;
    const failing = (): Promise<unknown> =>
      new Operations(adapter).transaction(() => {
        runs += 1;
        return Promise.reject(new Error("no"));
      });
    for (let index = 0; index < 60; index++)
      if (index % 2 === 0) assert.ok(!(await written(adapter, [examChange("a", 0)])), repeated);
      else await expectRolledBack(failing());
    assert.equal(
      runs,
      30,
      "What rejected with an error of its own was run again, as only a conflict may be.",
    );
    await expectWritten(adapter, [examChange("a", 1)]);
  },

  async "write compares the version also of a single change, and of both where there are two"(
    adapter,
    other,
  ) {
    await expectWritten(adapter, [examChange("a", 0)]);
    await expectWritten(adapter, [examChange("a", 1)]);
    // The first of these changes has already been made, so it has an old version and the stored value.
    const stale = [examChange("a", 1), examChange("a", 0), examChange("a", 1, null)];
    for (const one of stale)
      for (const changes of [[one], [one, examChange("b", 0)], [examChange("b", 0), one]]) {
        const isDone = await written(adapter, changes);
        const others = changes.length - 1;
        const why = `write returned true for ${JSON.stringify(one)}, with ${others} other changes, and exam/a has version 2.`;
        assert.ok(!isDone, why);
        same(await readNamed(other, ["a", "b"]), ['exam/a 2 "1"']);
      }
  },

  async "of writes at the same time that share a record, one is done, and nothing of the others is there"(
    adapter,
    other,
  ) {
    const groups: string[][] = [];
    for (const kind of kinds)
      for (const place of [0, 1, 2]) groups.push(await expectOneDone([adapter, other], kind, place));
    // Some databases read at most a hundred records at a time.
    const read = () => Promise.all(groups.map((names) => readNamed(other, names)));
    const left = await read();
    await delay(maxLateMs);
    same(await read(), left, "A write had an effect after its answer.");
  },

  async "writes at the same time that share no record are all done, and all of them are there"(
    adapter,
    other,
  ) {
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => [examChange(`p${n}`, 0), examChange(`p${n}!`, 0)]);
    const write = async (changes: RecordChange[], n: number): Promise<void> => {
      // A database may end some of these writes in favour of others.
      for (let tries = 1; !(await written(n % 2 === 0 ? adapter : other, changes)); tries++)
        assert.ok(tries < maxUndecided, `A write of new records returned false, ${tries} times in a row.`);
    };
    await Promise.all(all.map(write));
    const names = all.flatMap((changes) => changes.map(({ key }) => key.slice("exam/".length)));
    const lost = "A write returned true, and another write, of other records, has undone it.";
    same(await readNamed(other, names), names.map((name) => `exam/${name} 1 "1"`).toSorted(), lost);
  },

  async "write returns false where the database ends one of two that wait for each other"(adapter, other) {
    for (const version of [0, 1]) {
      const names = ["x", "m", "y"].map((name) => `${name}${version}`);
      if (version > 0)
        await expectWritten(
          adapter,
          names.map((name) => examChange(name, 0)),
        );
      const changes = names.map((name) => examChange(name, version));
      const orders = [changes, changes.toReversed()];
      // Each write has one record when it waits for the held one, and then wants the record of the other.
      const writing = () => orders.map((some, n) => written(n === 0 ? adapter : other, some));
      await whileHeld(adapter, changes[1]!, writing);
    }
  },

  async "write returns false only for a conflict, and rejects where its connection is lost"(
    adapter,
    _,
    probe?: StoreProbe,
  ) {
    const cut = probe?.cut?.bind(probe);
    if (!adapter.transaction || !cut) return;
    const result = await written(adapter, [examChange("a", 0)], cut).catch(() => "rejected");
    const how = result
      ? "transaction resolved: await its commit, and let its error reject"
      : "throw its error, because the kit repeats what returns false";
    assert.ok(result === "rejected", `write returned ${result} on a lost connection: ${how}.`);
  },

  async "of such writes, those of the application commit only with the one that is done"(
    adapter,
    other,
    probe,
  ) {
    if (probe === undefined) return;
    for (const kind of kinds) await expectOneDone([adapter, other], kind, 1, probe);
  },
};

/**
 * Returns the number of changes for a large write: 1000, or `maxChanges`. For a slow database, returns the
 * number for which a write takes ten seconds.
 */
async function affordableCount(adapter: Adapter): Promise<number> {
  const from = performance.now();
  await expectWritten(
    adapter,
    Array.from({ length: minChanges }, (_, index) => examChange(`k${index + 100}`, 0)),
  );
  const inTime = Math.floor((10_000 * minChanges) / (performance.now() - from));
  return Math.min(adapter.maxChanges ?? Infinity, 1000, Math.max(inTime, minChanges));
}

const fewer = "If the database can write fewer changes in one step, set maxChanges.";

const ownVersion = "Compare each record with its own version, and count each change once.";
const unlike = "A write returned false, and something of it was read.";

/** The number of changes that every database must be able to write in one step. */
const minChanges = 60;

/** The time, in milliseconds, for which the check waits for writes that continue after they returned. */
const maxLateMs = 100;

/** The maximum number of conflicts in a row. A database may end several transactions at a time. */
const maxUndecided = 10;

/** The ways in which writes change the record that they share. An equal update writes the same value. */
const kinds = ["insert", "update", "delete", "update and delete", "equal update"] as const;

/**
 * Runs four writes at the same time. The writes share one record, at the given position among their changes.
 * Each write has two other records, and with a probe also a write of the application. Expects exactly one
 * complete write, and nothing of the other writes.
 */
async function expectOneDone(
  adapters: readonly Adapter[],
  kind: (typeof kinds)[number],
  place: number,
  probe?: StoreProbe,
): Promise<string[]> {
  const version = kind === "insert" ? 0 : 1;
  for (let tries = 1; ; tries++) {
    const name = `${kind[0]}${kind.length}${place}${tries}`;
    if (version > 0) await expectWritten(adapters[0]!, [examChange(name, 0)]);
    const named = [0, 1, 2, 3].map((n) => [`${name}-${n}a`, `@${name}-${n}b`]);
    const keys = named.map(() => randomUUID());
    const writes = named.map((names, n) => {
      const isDeleting = kind === "delete" || (kind === "update and delete" && n < 2 === place < 2);
      const next = kind === "equal update" ? '"1"' : JSON.stringify(n);
      const shared = examChange(name, version, isDeleting ? null : next);
      const changes = names.map((one) => examChange(one, 0)).toSpliced(place, 0, shared);
      return written(adapters[n % 2]!, changes, (tx) => probe?.write(tx, keys[n]!));
    });
    const results = await Promise.all(writes);
    const done = results.flatMap((isDone, n) => (isDone ? [n] : []));
    const parts = named.flat();
    const left = await readNamed(adapters[0]!, parts);
    const expected = done.flatMap((n) => named[n]!.map((one) => `${examKey(one)} 1 "1"`)).toSorted();
    const own = probe ? " with a write of the application" : "";
    const several = `${done.length} of four writes${own} were done that expected version ${version} of one record (${kind}).`;
    assert.ok(done.length < 2, several);
    const torn = left.filter((record) => !expected.includes(record));
    const why = "A write that returned false has left records: it does not write all of its changes or none.";
    assert.ok(torn.length === 0, `${why} Left: ${torn.join(", ")}.`);
    same(left, expected, "A write returned true, and its changes are missing.");
    const there = probe && (await Promise.all(keys.map((key) => probe.has(key))));
    const unequal = "A write of the application is there, although its write returned false, or is missing.";
    assert.deepEqual(there ?? results, results, unequal);
    if (done.length === 1) return [name, ...parts];
    assert.ok(
      tries < maxUndecided,
      `Of four writes at the same time none was done, ${tries} times in a row.`,
    );
  }
}

/**
 * Runs writes while another transaction has made a change. Rolls the change back when the writes wait for it.
 * A batch adapter has no open transactions, so its writes run alone.
 */
async function whileHeld(
  adapter: Adapter,
  change: RecordChange,
  writing: () => Promise<unknown>[],
): Promise<void> {
  let writes: Promise<unknown> | undefined;
  if (adapter.transaction) {
    const holding = new Operations(adapter).transaction(async (_, write) => {
      const from = performance.now();
      await write([change]);
      const writeMs = performance.now() - from;
      writes ??= Promise.all(writing());
      writes.catch(() => {});
      // The writes connect, begin and reach the held record.
      await withTimeout(writes, minHoldMs + holdWrites * writeMs);
      throw new Error("no");
    });
    await expectRolledBack(holding);
  }
  await (writes ?? Promise.all(writing()));
}

/** A change is held for this number of milliseconds, and for this number of writes. */
const [minHoldMs, holdWrites] = [200, 10];
