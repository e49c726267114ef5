import assert from "node:assert/strict";
import { setImmediate as nextIteration } from "node:timers/promises";
import { type Adapter, Operations } from "../../over/adapter/operations.js";
import {
  examChange,
  examKey,
  expectWritten,
  rangeOfNames,
  readNamed,
  scan,
  written,
} from "./adapter-steps.js";
import { besideReads, type Checks } from "./steps.js";

/** The number of versions of one record. This number is too large for a column of one byte. */
const versions = 260;

/**
 * The maximum time for the writes beside the reads, and then for further writes. Over a slow network, the
 * check makes fewer versions.
 */
const maxMs = 3000;

/** The number of records that are there all the time. A scan by pages needs several pages for them. */
const lastingCount = 300;

/** The number of records in one write. */
const inOneWrite = 50;

/** The number of records that appear in one step and disappear in a later one. */
const passingCount = 20;

/** The number of rounds. In each round, two writes conflict while others read. */
const rounds = 5;

/** The record that each write changes last, in another partition, and perhaps in a table of large values. */
const lastName = "@l9";
const changeLast = (version: number) => examChange(lastName, version, largeValue(version + 1));
const largeValue = (version: number) => JSON.stringify(`${version} ${"x".repeat(5000)}`);

const lastingNames = [...Array.from({ length: lastingCount }, (_, index) => `l${index + 100}`), "l9"];

/** Returns the names of the records that write `4 * cycle + 1` adds and write `4 * cycle + 3` deletes. */
function passingNames(cycle: number): string[] {
  const from = (cycle * passingCount) % lastingCount;
  return lastingNames.slice(from, from + passingCount).map((name) => `${name}!`);
}

/** Checks of the reads of an adapter while other writes run. */
export const adapterReaderChecks: Checks<Adapter> = {
  async "beside writes, read and scan return each record as one write left it, and miss none"(
    adapter,
    other,
  ) {
    const counted = (name: string, version: number) => examChange(name, version, String(version + 1));
    for (let at = 0; at < lastingNames.length; at += inOneWrite)
      await expectWritten(
        adapter,
        lastingNames.slice(at, at + inOneWrite).map((name) => examChange(name, 0)),
      );
    await expectWritten(adapter, [counted("l1", 0), changeLast(0)]);
    const reads = [adapter, other].map((one) => async () => {
      // Scans at the same time must not share a position.
      await Promise.all([false, true].map((reverse) => expectWhole(one, reverse)));
      await expectOneStep(one);
    });
    let version = 1;
    const until = performance.now() + maxMs;
    await besideReads(reads, async () => {
      for (; version < versions && performance.now() < until; version++) {
        const names = passingNames(Math.floor(version / 4));
        const passing = [
          [],
          names.map((name) => examChange(name, 0)),
          [],
          names.map((name) => examChange(name, 1, null)),
        ][version % 4]!;
        await expectWritten(adapter, [counted("l1", version), ...passing, changeLast(version)]);
        // The pauses differ, so that the readers do not see the same steps each time.
        for (let pauses = version % 5; pauses >= 0; pauses--) await nextIteration();
      }
    });
    for (; version < versions && performance.now() < until + maxMs; version++)
      await expectWritten(adapter, [counted("l1", version), changeLast(version)]);
    for (const old of [version - 256, version - 128, version - 16, Math.floor(version / 10), 9]) {
      const isDone = old > 0 && (await written(adapter, [counted("l1", old)]));
      const all = "compare all digits and bits of both versions, as numbers.";
      assert.ok(!isDone, `write returned true for version ${old} of exam/l1, which has ${version}: ${all}`);
    }
  },

  async "beside writes that conflict, read and scan return nothing of a write that then returns false"(
    adapter,
    other,
  ) {
    for (let round = 0; round < rounds; round++) await expectNothingOfRefused(adapter, other, `r${round}`);
  },
};

/**
 * Runs two writes at the same time that share their last record, and reads their other records. An adapter
 * that writes records one after the other can undo its writes after the conflict. But other readers may have
 * seen some of these writes before.
 */
async function expectNothingOfRefused(adapter: Adapter, other: Adapter, name: string): Promise<void> {
  const own = [0, 1].map((n) => Array.from({ length: 20 }, (_, index) => `${name}-${n}${index + 10}`));
  const [all, seen] = [own.flat(), new Set<string>()];
  const note = (names: readonly string[]): void => names.forEach((one) => seen.add(one));
  const reads = [adapter, other].map((one) => async () => {
    note(await scan(one, `${name}-`, `${name}~`));
    note((await readNamed(one, all)).map((record) => record.slice("exam/".length).split(" ", 1)[0]!));
  });
  const done = await besideReads(reads, () =>
    Promise.all(
      own.map((names, n) =>
        written(
          n === 0 ? adapter : other,
          [...names, `@${name}`].map((one) => examChange(one, 0)),
        ),
      ),
    ),
  );
  const lost = own.flatMap((names, n) => (done[n] ? [] : names)).filter((one) => seen.has(one));
  const why =
    "Records were read that a write had made which then returned false. Make all changes of a write in one step: it is too late to take them back.";
  assert.ok(lost.length === 0, `${why} Read: ${lost.join(", ")}.`);
}

/**
 * Reads in turn two records that each write changes, and between them a record that one write adds and a
 * later one deletes. Throws if two of these reads show different parts of one write.
 */
async function expectOneStep(adapter: Adapter): Promise<void> {
  const before = await versionOf(adapter, "l1");
  const cycle = Math.floor(before / 4);
  const name = passingNames(cycle)[0]!;
  const isThere = (await versionOf(adapter, name)) > 0;
  const after = await versionOf(adapter, lastName);
  const last = await versionOf(adapter, "l1");
  const read = `exam/l1 was read with version ${before}, then ${examKey(lastName)} with version ${after}, then exam/l1 with version ${last}`;
  assert.ok(after >= before && last >= after, `${read}. Each write changes both. ${oneStep}`);
  const [added, deleted] = [cycle * 4 + 2, cycle * 4 + 4];
  const found = `exam/l1 was read with version ${before}, then ${examKey(name)} was ${isThere ? "found" : "not found"}, then ${examKey(lastName)} was read with version ${after}`;
  const made = `The write that adds ${examKey(name)} changes the others to version ${added}, and the write that deletes it to version ${deleted}`;
  const isRight = isThere ? after >= added : before < added || after >= deleted;
  assert.ok(isRight, `${found}. ${made}. ${oneStep}`);
}

/** Returns the version of a record, or 0 if there is no such record. */
async function versionOf(adapter: Adapter, name: string): Promise<number> {
  const [record] = await new Operations(adapter).read([examKey(name)]);
  const isWhole = name !== lastName || !record || record.value === largeValue(record.version);
  const apart = `${examKey(name)} was read with version ${record?.version} and the large value of another version. ${oneRead}`;
  assert.ok(isWhole, apart);
  return record?.version ?? 0;
}

const oneRead =
  "If you store large values apart, read them in one step with their records, or name them by their version.";

const oneStep =
  "Make all changes of a write in one step of the database: a process that ends between two steps leaves half of a write, also under a lock.";

const pages =
  "If you read a range in pages, begin each page after the last key of the page before: the number of a page, or of a record, moves with each write. If you read an index first, replace records that were deleted meanwhile by later ones. Each scan has a position of its own.";

const skipped =
  "Each write changes them: return what was committed last, and leave no record out because it is locked or because its value was replaced.";

/**
 * Reads once. Throws if a record is missing, if a record is there twice, or if its value and its version are
 * from different writes.
 */
async function expectWhole(adapter: Adapter, reverse: boolean): Promise<void> {
  const operations = new Operations(adapter);
  const names = ["l1", ...lastingNames];
  const limit = reverse ? 1000 : names.length;
  const read = await operations.read([examKey("l1")]);
  const scanned = await operations.scan({ ...rangeOfNames("l", "m"), limit, reverse });
  const found = new Map(scanned.map((record) => [record.key, record]));
  const end = scanned.length < limit ? "~" : scanned.at(-1)!.key;
  const missing = names.filter((name) => examKey(name) <= end && !found.has(examKey(name)));
  const missed = `scan missed ${missing.length} records that were there all the time, while others in its range were written: ${missing.slice(0, 5).join(", ")}. ${missing.join() === "l1" ? skipped : pages}`;
  assert.ok(missing.length === 0, missed);
  const twice = scanned.find((record) => found.get(record.key) !== record);
  assert.ok(!twice, `scan returned ${twice?.key} twice, while records in its range were written. ${pages}`);
  assert.ok(read.length < 2, "read returned exam/l1 twice, while it was being written.");
  assert.ok(read[0], "read did not return exam/l1, which was there all the time, and was being written.");
  for (const [operation, record] of Object.entries({ read: read[0], scan: found.get(examKey("l1"))! })) {
    const got = `version ${record.version} with the value of version ${record.value}`;
    const how = "Get the value and the version from one statement.";
    const isWhole = record.value === String(record.version);
    assert.ok(isWhole, `${operation} returned ${got} for a record that was being written. ${how}`);
  }
  const shown = [read[0].version, found.get(examKey("l1"))!.version, await versionOf(adapter, "l1")];
  const behind = `exam/l1 was read, scanned and read with the versions ${shown.join(", ")}: change records and their indexes in one step, and return nothing older than an earlier read.`;
  assert.ok(shown[0]! <= shown[1]! && shown[1]! <= shown[2]!, behind);
}
