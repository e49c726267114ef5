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
import { type Checks, repeat } from "./steps.js";

/** The number of versions of one record. This number is too large for a column of one byte. */
const versions = 260;

/** The maximum time for the writes. Over a slow network, the check makes fewer versions. */
const maxMs = 3000;

/** The number of rounds. In each round, two writes conflict while others read. */
const rounds = 5;

/** Checks of the reads of an adapter while other writes run. */
export const adapterReaderChecks: Checks<Adapter> = {
  async "beside writes, read and scan return each record as one write left it, and miss none"(
    adapter,
    other,
  ) {
    const lasting = Array.from({ length: 20 }, (_, index) => `l${index + 10}`);
    const counted = (name: string, version: number) => examChange(name, version, String(version + 1));
    const created = lasting.map((name) => examChange(name, 0));
    await expectWritten(adapter, [counted("l1", 0), ...created, counted("l9", 0)]);
    const writing = new AbortController();
    const readers = [adapter, other].map((one) =>
      repeat(writing.signal, async () => {
        await expectWhole(one, ["l1", ...lasting]);
        await expectOneStep(one, ["l1", "l9"]);
      }),
    );
    const reading = Promise.all(readers);
    reading.catch(() => {});
    try {
      const until = performance.now() + maxMs;
      for (let version = 1; version < versions && performance.now() < until; version++) {
        // Records appear and disappear only in some steps, so that the readers do not see the same steps each
        // time.
        const passing = [
          [],
          lasting.map((name) => examChange(`${name}!`, 0)),
          [],
          lasting.map((name) => examChange(`${name}!`, 1, null)),
        ][version % 4]!;
        await expectWritten(adapter, [counted("l1", version), ...passing, counted("l9", version)]);
        await nextIteration();
      }
    } finally {
      writing.abort();
      await Promise.allSettled(readers);
    }
    await reading;
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
  const writing = new AbortController();
  const readers = [adapter, other].map((one) =>
    repeat(writing.signal, async () => {
      note(await scan(one, `${name}-`, `${name}~`));
      note((await readNamed(one, all)).map((record) => record.slice("exam/".length).split(" ", 1)[0]!));
    }),
  );
  const reading = Promise.all(readers);
  reading.catch(() => {});
  let done: boolean[];
  try {
    done = await Promise.all(
      own.map((names, n) =>
        written(
          n === 0 ? adapter : other,
          [...names, `${name}~`].map((one) => examChange(one, 0)),
        ),
      ),
    );
  } finally {
    writing.abort();
    await Promise.allSettled(readers);
  }
  await reading;
  const lost = own.flatMap((names, n) => (done[n] ? [] : names)).filter((one) => seen.has(one));
  const why =
    "Records were read that a write had made which then returned false. Make all changes of a write in one step: it is too late to take them back.";
  assert.ok(lost.length === 0, `${why} Read: ${lost.join(", ")}.`);
}

/**
 * Reads in turn two records that each write changes. Throws if a read returned the change of one of
 * them, and the next read not yet the change of the other.
 */
async function expectOneStep(adapter: Adapter, [first, last]: readonly [string, string]): Promise<void> {
  let before = "";
  let seen = 0;
  for (const name of [first, last, first]) {
    const [record] = await new Operations(adapter).read([examKey(name)]);
    const version = record?.version ?? 0;
    const why = `${before} was read with version ${seen}, and then ${examKey(name)} with version ${version}. Each write changes both`;
    assert.ok(version >= seen, `${why}. ${oneStep}`);
    [before, seen] = [examKey(name), version];
  }
}

const oneStep =
  "Make all changes of a write in one step of the database: a process that ends between two steps leaves half of a write, also under a lock.";

/** Reads once. Throws if a record is missing, or if its value and its version are from different writes. */
async function expectWhole(adapter: Adapter, lasting: readonly string[]): Promise<void> {
  const operations = new Operations(adapter);
  const [read, scanned] = await Promise.all([
    operations.read([examKey("l1")]),
    operations.scan(rangeOfNames("l", "m")),
  ]);
  const found = new Map(scanned.map((record) => [record.key, record]));
  const missing = lasting.filter((name) => !found.has(examKey(name)));
  const why = "scan missed records that were there all the time, while others in its range were written";
  assert.ok(missing.length === 0, `${why}: ${missing.join(", ")}.`);
  for (const [operation, record] of Object.entries({ read: read[0], scan: found.get(examKey("l1")) })) {
    const got = `version ${record?.version} with the value of version ${record?.value}`;
    const how = "Get the value and the version from one statement.";
    const isWhole = record?.value === String(record?.version);
    assert.ok(isWhole, `${operation} returned ${got} for a record that was being written. ${how}`);
  }
}
