import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { type Adapter, Operations } from "../../over/adapter/operations.js";
import {
  examChange,
  examKey,
  expectWritten,
  rangeOfNames,
  readNamed,
  scan,
  versionRule,
  written,
} from "./adapter-steps.js";
import { adapterReaderChecks } from "./adapter-readers.js";
import { adapterTransactionChecks } from "./adapter-transactions.js";
import { adapterWriteChecks } from "./adapter-writes.js";
import { besideReads, type Checks, same } from "./steps.js";

/** Names with every kind of character that a key can have, in the order of their bytes. */
const names = "! ' ( ) * - . 0 10 9 : A A! AA Z _ a a! a%20 a-b a/b aA a_ aa b z ~".split(" ");
const bounds = ["! ~", "A a", "a_ aa_", "A_ A!", "' a/b", "a/b z", "c d"].map((pair) => pair.split(" "));

const committed =
  "A read did not return what was committed before: the commit was not awaited, the read is old (a cache, a replica, the answer to an earlier call), or `reopen` opened other data.";
const mixed =
  "A record has the value of another change. Write each key with the version and the value of its own change.";

const bytes = "Compare keys byte by byte, also capitals and digits: a collation of a language does not.";
const begins = "scan left out the key `from`, with which a range begins.";
const whole =
  "scan left out keys that are in the range: compare whole keys byte by byte, also where `from` and `to` have no common prefix.";
const before = "scan returned the key `to`, before which a range ends.";

/** Returns the reason why other records were read: perhaps only their versions or their values are wrong. */
function whyOther(found: readonly string[], expected: readonly string[]): string {
  const without = (at: number) => (record: string) => record.split(" ").toSpliced(at, 1).join(" ");
  const isSame = (at: number) => found.map(without(at)).join() === expected.map(without(at)).join();
  return isSame(1) ? versionRule : isSame(2) ? mixed : committed;
}

/** Checks of an adapter's operations. The other groups check a store that {@link storeOver} makes of it. */
export const adapterChecks: Checks<Adapter> = {
  async "read returns what exists, also what was committed just before, and nothing else"(adapter, other) {
    same(await readNamed(adapter, ["a", "b"]), []);
    await expectWritten(adapter, [examChange("b", 0, '"2"'), examChange("a", 0)]);
    const expected = ['exam/a 1 "1"', 'exam/b 1 "2"'];
    const both = await readNamed(adapter, ["a", "none", "b"]);
    same(both, expected, whyOther(both, expected));
    // Calls that still run must not share their answers with later calls.
    const reads = [adapter, other].map((one) => async () => void (await readNamed(one, ["a"])));
    await besideReads(reads, async () => {
      for (let version = 1; version <= 20; version++) {
        const [writer, reader] = version % 2 === 0 ? [other, adapter] : [adapter, other];
        await expectWritten(writer, [examChange("a", version, `"${version + 1}"`)]);
        const found = await readNamed(reader, ["a"]);
        const next = [`exam/a ${version + 1} "${version + 1}"`];
        same(found, next, whyOther(found, next));
      }
    });
    await expectWritten(other, [examChange("a", 21, null)]);
    same(await readNamed(adapter, ["a", "b"]), expected.slice(1), committed);
    await expectWritten(adapter, [examChange("a", 0)]);
    const first = "A record that is written again after it was deleted has version 1.";
    const again = await readNamed(other, ["a"]);
    same(again.length, 1, committed);
    same(again, ['exam/a 1 "1"'], first);
  },

  async "scan returns what was committed just before, also in a range that was read before"(adapter, other) {
    const old =
      "scan did not return what was committed before: it returned an old page, the answer to an earlier call, or used an index or a replica that is behind.";
    const expectNames = async (expected: readonly string[]): Promise<void> => {
      for (const one of [adapter, other])
        for (const reverse of [false, true])
          same((await scan(one, "!", "c", { reverse })).toSorted(), expected, old);
    };
    const reads = [adapter, other].map((one) => async () => void (await scan(one, "!", "c")));
    await expectNames([]);
    await besideReads(reads, async () => {
      await expectWritten(adapter, [examChange("b", 0)]);
      await expectNames(["b"]);
      await expectWritten(other, [examChange("a", 0), examChange("b", 1)]);
      await expectNames(["a", "b"]);
      await expectWritten(adapter, [examChange("b", 2, null)]);
      await expectNames(["a"]);
    });
  },

  async "read and scan return a value as the text that was written, also one that was written again"(
    adapter,
    other,
  ) {
    const strings = [
      "",
      " ",
      "é",
      "e\u0301",
      "🧾",
      "\ud800",
      "\0",
      "\u2028",
      "\\ ' % ? $1 :a",
      "$$ $& ${a} @a {0}",
    ];
    const others = [null, true, [], {}, 1e19, 1e21, -0.1, Number.MAX_SAFE_INTEGER];
    const text = JSON.stringify({ strings, others, a: "é".repeat(70_000) });
    for (const version of [0, 1]) {
      await expectWritten(adapter, [examChange("a", version, text)]);
      const found = [
        ...(await new Operations(other).read([examKey("a")])),
        ...(await new Operations(other).scan(rangeOfNames("a", "b"))),
      ];
      for (const { value } of found)
        same(value, text, `A value of ${text.length} characters became one of ${value.length}.`);
      same(found.length, 2, "read or scan did not return what was committed just before.");
      const versions = found.map((record) => record.version);
      same(versions, [version + 1, version + 1], versionRule);
    }
  },

  async "each record has its own large value: not that of another record, of a refused write or of before"(
    adapter,
    other,
  ) {
    const [x, y, z] = ["x", "y", "z"].map((name) =>
      JSON.stringify(Array.from({ length: 9000 }, (_, index) => `${name}${index}`)),
    ) as [string, string, string];
    const expectValues = async (why: string, expected: Readonly<Record<string, string>>): Promise<void> => {
      const keys = Object.keys(expected).map(examKey);
      const reads = [new Operations(adapter).read(keys), new Operations(other).scan(rangeOfNames("a", "d"))];
      const answers = await Promise.all(reads).catch((cause: unknown) => {
        if (!hasCode(cause, "adapter_defective")) throw cause;
        throw new Error(`A large value could not be read${because(cause)} ${why}`, { cause });
      });
      for (const found of answers) {
        const values = new Map(found.map(({ key, value }) => [key, value]));
        same(
          keys.map((key) => values.get(key)),
          Object.values(expected),
          why,
        );
      }
    };
    await expectWritten(adapter, [examChange("a", 0, x), examChange("b", 0, y), examChange("c", 0, x)]);
    const mixedUp =
      "Large values of one write were mixed up. If you store them apart, give each its own key.";
    await expectValues(mixedUp, { a: x, b: y, c: x });
    await expectWritten(adapter, [examChange("c", 1, null)]);
    const shared =
      "A record was deleted, and another one with an equal large value has lost it. If you store large values apart, do not share them.";
    await expectValues(shared, { a: x, b: y });
    for (const version of [0, 2])
      assert.ok(
        !(await written(adapter, [examChange("b", version, z)])),
        "write returned true for another version.",
      );
    const early =
      "A write returned false, and its large value is there. Store large values in the same step as the record, after the comparison of the versions.";
    await expectValues(early, { a: x, b: y });
    await expectWritten(adapter, [examChange("a", 1, '"1"'), examChange("b", 1, null)]);
    await expectWritten(adapter, [examChange("b", 0, '"2"')]);
    const left = "A large value, or a part of it, stayed after its record got a short one or was deleted.";
    await expectValues(left, { a: '"1"', b: '"2"' });
  },

  async "scan returns the keys from `from` up to but not `to`, byte by byte, or in reverse"(adapter) {
    const isDone = await written(
      adapter,
      names.toReversed().map((name) => examChange(name, 0)),
    );
    assert.ok(isDone, `write returned false for ${names.length} new records with different keys. ${bytes}`);
    const other =
      "read returned a record of another key: compare keys exactly, without wildcards or case rules.";
    for (const some of [["a_"], ["a%20"], ["aa"], ["."], ["*"], ["!", "z"]])
      same(
        await readNamed(adapter, some),
        some.map((name) => `exam/${name} 1 "1"`),
        other,
      );
    // A bound can end with a space, which sorts before all other characters. `bounds` has "_" in its place.
    for (const [from, to] of bounds.map((pair) => pair.map((bound) => bound.replace("_", " ")))) {
      const expected = names.filter((name) => name >= from! && name < to!);
      const found = await scan(adapter, from!, to!);
      const isWithoutFrom = expected.includes(from!) && !found.includes(from!);
      const isWithoutOthers = found.length > 0 && found.length < expected.length;
      const why = isWithoutFrom ? begins : isWithoutOthers ? whole : bytes;
      same(found, expected, found.includes(to!) ? before : why);
      const backwards = "In reverse, scan returns the same keys, the last one first.";
      same(await scan(adapter, from!, to!, { reverse: true }), expected.toReversed(), backwards);
    }
    const alone =
      "A write changed or deleted a record of another key: compare keys exactly, without prefixes, patterns or case rules.";
    const some = ["aA", "a_"].map((name) => examChange(name, 1));
    assert.ok(await written(adapter, [examChange("a", 1, null), ...some]), alone);
    const like = names.filter((name) => /^a/i.test(name));
    const left = like
      .filter((name) => name !== "a")
      .map((name) => `exam/${name} ${/^a[A_]$/.test(name) ? 2 : 1} "1"`);
    same(await readNamed(adapter, like), left.toSorted(), alone);
    const long = ["a", "b"].map((end) => `${"long".repeat(123)}${end}`);
    const end = "Two keys of 498 characters that differ in the last one: store and compare all of a key.";
    for (const name of long.toReversed()) assert.ok(await written(adapter, [examChange(name, 0)]), end);
    same(await scan(adapter, "long", "lonh"), long, end);
    same(await scan(adapter, long[0]!, long[1]!), [long[0]], end);
    same((await readNamed(adapter, long)).length, 2, end);
  },

  async "scan returns no more than `limit` records, and no fewer where there are more"(adapter) {
    const many = Array.from({ length: 1000 }, (_, index) => `n${index + 1000}`);
    // The first hundred records have more than a megabyte, at which some databases end a page.
    const [long, short] = [12_000, 100].map((length) => JSON.stringify("x".repeat(length)));
    for (let at = many.length - 50; at >= 0; at -= 50) {
      const some = many.slice(at, at + 50).map((name) => examChange(name, 0, at < 100 ? long! : short!));
      await expectWritten(adapter, some.toReversed());
    }
    const megabyte =
      "read did not return all of 100 records, which are more than a megabyte: read the rest if the database returns fewer.";
    same((await readNamed(adapter, many.slice(0, 100))).length, 100, megabyte);
    const pages = "Return each record once, in the order of the keys, also if you read a range in pages.";
    for (const limit of [1000, 50, 3])
      for (const reverse of [false, true]) {
        const expected = (reverse ? many.toReversed() : many).slice(0, limit);
        const found = await scan(adapter, "n", "o", { limit, reverse });
        same(found, expected, `${found.length} records for a limit of ${limit} of 1000 records. ${pages}`);
      }
  },

  async "now returns the database's clock in milliseconds, anew in each call"(adapter) {
    if (!adapter.now) return;
    const { now, minMs, maxMs, grownMs } = await twoReadings(() => new Operations(adapter).now());
    const why = `In ${minMs} to ${maxMs} ms now grew by ${grownMs}: return milliseconds, anew in each call.`;
    assert.ok(grownMs > minMs - 50 && grownMs < maxMs + 50, why);
    const minutes = Math.round((now - Date.now()) / 60_000);
    assert.ok(
      Math.abs(minutes) < 20,
      `now is ${minutes} minutes away from this machine's clock. Return UTC.`,
    );
  },

  ...adapterReaderChecks,
  ...adapterWriteChecks,
  ...adapterTransactionChecks,
};

/** Reads a clock twice. Returns the second reading, the difference, and the bounds of the real difference. */
async function twoReadings(read: () => Promise<number>) {
  const start = performance.now();
  const first = await read();
  const between = performance.now();
  await delay(100);
  const minMs = Math.round(performance.now() - between);
  const now = await read();
  return { now, minMs, maxMs: Math.round(performance.now() - start), grownMs: now - first };
}
