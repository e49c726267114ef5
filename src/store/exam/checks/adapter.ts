import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type RecordChange, storeOver } from "../../index.js";
import { type Adapter, Conflict, Operations } from "../../over/adapter/operations.js";
import { payment } from "./fixtures.js";
import { type Checks, same, saved, type StoreProbe } from "./steps.js";

/** Every kind of character that a key can have, in the order of the bytes. */
const names = "! ' ( ) * - . 0 9 : A A! AA Z _ a a! a%20 a-b a/b aA a_ aa b z ~".split(" ");
const bounds = ["! ~", "A a", "a_ aa_", "A_ A!", "' a/b", "c d"].map((pair) => pair.split(" "));

/** The operations of an adapter below {@link storeOver}. The other groups say what a store makes of them. */
export const adapterChecks: Checks<Adapter> = {
  async "read returns what exists, also what was committed just before, and nothing else"(adapter, other) {
    same(await read(adapter, ["a", "b"]), []);
    const text = JSON.stringify({ text: "é 🧾 \\ '" });
    assert.equal(await written(adapter, [change("a", 0), change("b", 0, text)]), true);
    same(await read(adapter, ["a", "none", "b"]), ['exam/a 1 "1"', `exam/b 1 ${text}`]);
    for (let version = 1; version <= 20; version++) {
      assert.equal(await written(adapter, [change("a", version, `"${version + 1}"`)]), true);
      same(await read(other, ["a"]), [`exam/a ${version + 1} "${version + 1}"`]);
    }
    assert.equal(await written(adapter, [change("a", 21, null)]), true);
    same(await read(other, ["a", "b"]), [`exam/b 1 ${text}`]);
    assert.equal(await written(adapter, [change("a", 0)]), true);
    same(await read(other, ["a"]), ['exam/a 1 "1"']);
  },

  async "write returns false and writes nothing where any record has another version"(adapter, other) {
    assert.equal(await written(adapter, [change("b", 0), change("c", 0)]), true);
    const absent = [change("d", 1), change("d", 1, null)];
    for (const wrong of [change("b", 0), change("b", 2), change("b", 2, null), ...absent]) {
      assert.equal(await written(adapter, [change("a", 0), wrong, change("e", 0)]), false);
      same(await read(other, ["a", "b", "c", "d", "e"]), ['exam/b 1 "1"', 'exam/c 1 "1"']);
    }
  },

  async "of writes at the same time that share a record, one is done, and nothing of the others is there"(
    adapter,
    other,
  ) {
    for (const version of [0, 1])
      for (const place of [0, 1, 2]) await expectOneDone([adapter, other], version, place);
  },

  async "of such writes, those of the application commit only with the one that is done"(
    adapter,
    other,
    probe,
  ) {
    if (probe === undefined) return;
    await expectOwnWritesOfOne([adapter, other], probe);
  },

  async "scan returns the keys from `from` up to but not `to`, byte by byte, or in reverse"(adapter) {
    assert.equal(
      await written(
        adapter,
        names.toReversed().map((name) => change(name, 0)),
      ),
      true,
    );
    // A space at the end of a bound sorts before all other characters. Here it is written as "_".
    for (const [from, to] of bounds.map((pair) => pair.map((bound) => bound.replace("_", " ")))) {
      const expected = names.filter((name) => name >= from! && name < to!);
      same(await scan(adapter, from!, to!), expected);
      same(await scan(adapter, from!, to!, { reverse: true }), expected.toReversed());
    }
    const long = ["a", "b"].map((end) => `${"long".repeat(123)}${end}`);
    for (const name of long) assert.equal(await written(adapter, [change(name, 0)]), true);
    same(await scan(adapter, "long", "lonh"), long);
    same((await read(adapter, long)).length, 2);
  },

  async "scan returns no more than `limit` records, and no fewer where there are more"(adapter) {
    const many = Array.from({ length: 1000 }, (_, index) => `n${index + 1000}`);
    // More than a megabyte, at which some databases end a page.
    const value = JSON.stringify("x".repeat(1200));
    for (let at = 0; at < many.length; at += 50) {
      const some = many.slice(at, at + 50).map((name) => change(name, 0, value));
      assert.equal(await written(adapter, some), true);
    }
    same((await read(adapter, many.slice(0, 100))).length, 100);
    for (const limit of [1000, 3]) {
      same(await scan(adapter, "n", "o", { limit }), many.slice(0, limit));
      same(await scan(adapter, "n", "o", { limit, reverse: true }), many.toReversed().slice(0, limit));
    }
  },

  async "read and scan with tx see what its transaction wrote, and nobody else does"(adapter, other) {
    if (!adapter.transaction) return;
    let outside: Promise<string[]> | undefined;
    const rolledBack = new Operations(adapter).transaction(async (tx, write) => {
      await write([change("a", 0)]);
      same(await read(adapter, ["a"], tx), ['exam/a 1 "1"']);
      same(await scan(adapter, "a", "b", {}, tx), ["a"]);
      outside = read(other, ["a"]);
      // A database with one connection lets it wait.
      await Promise.race([outside, delay(100)]);
      throw new Error("no");
    });
    await assert.rejects(rolledBack, /no/);
    same(await outside, []);
  },

  async "what write did is rolled back where it returned false or its transaction rejects"(adapter, other) {
    if (!adapter.transaction) return;
    await saved(storeOver(adapter), { created: [payment("p1")] });
    for (const end of [async () => false, () => Promise.reject(new Error("no"))]) {
      const write: typeof adapter.write = (changes, tx) => adapter.write(changes, tx).then(end);
      const get = (target: typeof adapter, name: string): unknown =>
        name === "write" ? write : Reflect.get(target, name);
      const failing = storeOver(new Proxy(adapter, { get }), { busyTimeoutMs: 0 });
      // A payment, because a store may keep these in columns of its own.
      await assert.rejects(saved(failing, { updated: [payment("p1", { status: "changed" })] }));
      same(await storeOver(other as typeof adapter).find("p1"), payment("p1"));
    }
  },
};

const examKey = (name: string): string => `exam/${name}`;
const change = (name: string, version: number, value: string | null = '"1"'): RecordChange => ({
  key: examKey(name),
  version,
  value,
});

/** How often writes at the same time may all be conflicts: a database may end several transactions that wait for each other. */
const maxUndecided = 10;

/**
 * Lets four writes run at the same time. They share one record, at this place among their changes, and each has two of its own. Expects that
 * one of them is done, all of it, and nothing of the others.
 */
async function expectOneDone(adapters: readonly Adapter[], version: number, place: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    const name = `t${version}${place}${tries}`;
    if (version > 0) assert.equal(await written(adapters[0]!, [change(name, 0)]), true);
    const own = [0, 1, 2, 3].map((n) => [change(`${name}-${n}a`, 0), change(`${name}-${n}b`, 0)]);
    const writes = own.map((changes, n) => {
      const shared = change(name, version, JSON.stringify(n));
      return written(adapters[n % adapters.length]!, changes.toSpliced(place, 0, shared));
    });
    const done = (await Promise.all(writes)).flatMap((isDone, n) => (isDone ? [n] : []));
    const parts = own.flatMap((changes) => changes.map(({ key }) => key.slice("exam/".length)));
    const left = await read(adapters[0]!, parts);
    const expected = done.flatMap((n) => own[n]!.map(({ key }) => `${key} 1 "1"`));
    assert.ok(done.length < 2, `${done.length} of four writes were done, and each expected another version.`);
    const torn = left.filter((record) => !expected.includes(record));
    const why = "A write that returned false has left records: it does not write all of its changes or none.";
    assert.ok(torn.length === 0, `${why} Left: ${torn.join(", ")}.`);
    same(left, expected);
    if (done.length === 1) return;
    assert.ok(
      tries < maxUndecided,
      `Of four writes at the same time none was done, ${tries} times in a row.`,
    );
  }
}

/** Four writes at the same time expect one record to be absent, and each has a write of the application beside it. */
async function expectOwnWritesOfOne(adapters: readonly Adapter[], probe: StoreProbe): Promise<void> {
  const own = [0, 1, 2, 3].map(() => randomUUID());
  const results = await Promise.all(
    own.map((key, n) =>
      written(adapters[n % 2]!, [change("shared", 0), change(`own${n}`, 0)], (tx) => probe.write(tx, key)),
    ),
  );
  const there = await Promise.all(own.map((key) => probe.has(key)));
  const why = "A write of the application is there, although its write returned false, or is missing.";
  assert.deepEqual(there, results, why);
}

/** Writes in a transaction of its own. Returns what `write` returned. */
async function written(
  adapter: Adapter,
  changes: readonly RecordChange[],
  before: (tx: object) => unknown = () => undefined,
): Promise<boolean> {
  try {
    await new Operations(adapter).transaction(async (tx, write) => {
      await before(tx);
      await write(changes);
    });
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}

/** Returns the records with these names as key, version and value. */
async function read(adapter: Adapter, of: readonly string[], tx?: object): Promise<string[]> {
  const records = await new Operations(adapter).read(of.map(examKey), tx);
  return records.map(({ key, version, value }) => `${key} ${version} ${value}`).toSorted();
}

/** Returns the names of the records in a range. */
async function scan(
  adapter: Adapter,
  from: string,
  to: string,
  options = {},
  tx?: object,
): Promise<string[]> {
  const range = { from: examKey(from), to: examKey(to), limit: 100, reverse: false, ...options };
  const records = await new Operations(adapter).scan(range, tx);
  return records.map(({ key }) => key.slice("exam/".length));
}
