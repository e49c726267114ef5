import assert from "node:assert/strict";
import { setImmediate as nextIteration } from "node:timers/promises";
import { type Adapter, Operations } from "../../over/adapter/operations.js";
import { examChange, examKey, expectWritten, rangeOfNames } from "./adapter-steps.js";
import { type Checks } from "./steps.js";

/** The versions of one record: more than a column of one byte holds. */
const versions = 260;

/** How long it writes: a database that is far away makes fewer versions. */
const maxMs = 3000;

/** What an adapter reads while other writes run. */
export const adapterReaderChecks: Checks<Adapter> = {
  async "beside writes, read and scan return each record as one write left it, and miss none"(
    adapter,
    other,
  ) {
    const lasting = Array.from({ length: 20 }, (_, index) => `l${index + 10}`);
    const counted = (version: number) => examChange("l1", version, String(version + 1));
    await expectWritten(adapter, [counted(0), ...lasting.map((name) => examChange(name, 0))]);
    const writing = new AbortController();
    const readers = [adapter, other].map(async (one) => {
      for (; !writing.signal.aborted; await nextIteration()) await expectWhole(one, ["l1", ...lasting]);
    });
    const reading = Promise.all(readers);
    reading.catch(() => {});
    try {
      const until = performance.now() + maxMs;
      for (let version = 1; version < versions && performance.now() < until; version++) {
        // Records that come and go, between those that stay. Not in each step, or the readers could fall into step with them.
        const passing = [
          [],
          lasting.map((name) => examChange(`${name}!`, 0)),
          [],
          lasting.map((name) => examChange(`${name}!`, 1, null)),
        ][version % 4]!;
        await expectWritten(adapter, [counted(version), ...passing]);
        await nextIteration();
      }
    } finally {
      writing.abort();
      await Promise.allSettled(readers);
    }
    await reading;
  },
};

/** Reads once. Throws if a record is torn or missing. */
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
