import { setImmediate as nextIteration } from "node:timers/promises";
import { type BatchAdapter, type RecordChange, storeOver, type StoredRecord } from "tillkit";
import { examineStore } from "tillkit/testing";
import { apply, batchAdapter, expectedIn, type Records } from "./memory-adapter.js";

type Make = (records: Records) => BatchAdapter<never>;

/** Compares only some versions where so many records change, as a way for few changes may do. */
function comparingFew(count: number, isCompared: (change: RecordChange, index: number) => boolean): Make {
  return (records) => ({
    ...batchAdapter(records),
    write: async (changes) => {
      if (changes.length !== count) return batchAdapter(records).write(changes, []);
      const compared = changes.filter(isCompared);
      if (!compared.every(expectedIn(records))) return false;
      const versionIn = ({ key }: RecordChange) => records.get(key)?.version ?? 0;
      apply(
        records,
        changes.map((change) => ({ ...change, version: versionIn(change) })),
      );
      return true;
    },
  });
}

/** Takes records that are as the write would leave them for its own earlier write, whose answer was lost. */
const takingEqualForOwn: Make = (records) => ({
  ...batchAdapter(records),
  write: async (changes) => {
    const isThere = ({ key, version, value }: RecordChange): boolean => {
      const stored = records.get(key);
      return value === null ? !stored : stored?.version === version + 1 && stored.value === value;
    };
    return changes.every(isThere) || batchAdapter(records).write(changes, []);
  },
});

/** Names each write by its content, and makes the writes of one name once. */
const namedByContent: Make = (records) => {
  const made = new Set<string>();
  return {
    ...batchAdapter(records),
    write: async (changes) => {
      const name = JSON.stringify(changes);
      const isDone = made.has(name) || (await batchAdapter(records).write(changes, []));
      if (isDone) made.add(name);
      return isDone;
    },
  };
};

/** Writes one record after the other, each only if its version is the expected one, and takes all back after a conflict. */
const takingBack: Make = (records) => ({
  ...batchAdapter(records),
  write: async (changes) => {
    const before: [key: string, record: StoredRecord | undefined][] = [];
    for (const change of changes) {
      await nextIteration();
      if (expectedIn(records)(change)) {
        before.push([change.key, records.get(change.key)]);
        apply(records, [change]);
        continue;
      }
      for (const [key, record] of before)
        if (record) records.set(key, record);
        else records.delete(key);
      return false;
    }
    return true;
  },
});

/** Keeps what it has scanned, until one of these records changes. */
const keepingPages: Make = (records) => {
  const pages = new Map<string, readonly StoredRecord[]>();
  return {
    ...batchAdapter(records),
    async scan(range) {
      const name = JSON.stringify(range);
      const page = pages.get(name) ?? (await batchAdapter(records).scan(range));
      pages.set(name, page);
      return page;
    },
    async write(changes) {
      const keys = new Set(changes.map(({ key }) => key));
      for (const [name, page] of pages) if (page.some(({ key }) => keys.has(key))) pages.delete(name);
      return batchAdapter(records).write(changes, []);
    },
  };
};

/** Compares keys without case, and returns them as they were written. */
const caseless: Make = (records) => {
  const written = new Map<string, string>();
  const lower = <T extends { key: string }>(one: T): T => ({ ...one, key: one.key.toLowerCase() });
  const asWritten = (found: readonly StoredRecord[]) =>
    found.map((one) => ({ ...one, key: written.get(one.key)! }));
  const inner = batchAdapter(records);
  return {
    ...inner,
    read: async (keys) => asWritten(await inner.read(keys.map((key) => key.toLowerCase()))),
    scan: async (range) =>
      asWritten(await inner.scan({ ...range, from: range.from.toLowerCase(), to: range.to.toLowerCase() })),
    write: async (changes) => {
      for (const { key } of changes) written.set(key.toLowerCase(), key);
      return inner.write(changes.map(lower), []);
    },
  };
};

const blobsOf = new WeakMap<Records, Map<string, string>>();

/** Stores large values apart, each with the name that its record then has in place of the value. */
function storingApart(
  nameOf: (change: RecordChange, next: number) => string,
  does?: "puts early" | "deletes" | "reads by key" | "reads later",
): Make {
  return (records) => {
    const inner = batchAdapter(records);
    const blobs = blobsOf.get(records) ?? new Map<string, string>();
    blobsOf.set(records, blobs);
    const whole = async (found: readonly StoredRecord[]) => {
      if (does === "reads later") await nextIteration();
      const nameIn = ({ key, value }: StoredRecord) => (does === "reads by key" ? `@${key}` : value);
      return found.map((record) => ({ ...record, value: blobs.get(nameIn(record)) ?? record.value }));
    };
    return {
      ...inner,
      read: async (keys) => whole(await inner.read(keys)),
      scan: async (range) => whole(await inner.scan(range)),
      async write(changes) {
        if (does !== "puts early" && !changes.every(expectedIn(records))) return false;
        const next = blobs.size;
        const named = changes.map((change) => {
          const { key, value } = change;
          if (value === null && does === "deletes") blobs.delete(records.get(key)!.value);
          if (value === null || value.length <= 1000) return change;
          blobs.set(nameOf(change, next), value);
          return { ...change, value: nameOf(change, next) };
        });
        return inner.write(named, []);
      },
    };
  };
}

const byKey = ({ key }: RecordChange): string => `@${key}`;
const byVersion = ({ key, version }: RecordChange): string => `@${key} ${version}`;

const apart =
  "each record has its own large value: not that of another record, of a refused write or of before";

const few = "write compares the version also of a single change, and of both where there are two";

const defects: [does: string, make: Make, caughtBy: string, says: string][] = [
  [
    "does not compare the version of a single change",
    comparingFew(1, ({ version }) => version === 0),
    few,
    'write returned true for {"key":"exam/a","version":1,"value":"\\"1\\""}, with 0 other changes',
  ],
  [
    "compares only the first version of two",
    comparingFew(2, (_, index) => index === 0),
    few,
    'write returned true for {"key":"exam/a","version":1,"value":"\\"1\\""}, with 1 other changes',
  ],
  [
    "takes an equal record for its own write",
    takingEqualForOwn,
    few,
    'write returned true for {"key":"exam/a","version":1,"value":"\\"1\\""}, with 0 other changes',
  ],
  [
    "makes equal writes once",
    namedByContent,
    "transactions that reject or return false give back what they hold: a connection, a lock",
    "write returned true for a change that had been made before",
  ],
  [
    "takes back what it wrote before a conflict",
    takingBack,
    "beside writes that conflict, read and scan return nothing of a write that then returns false",
    "Make all changes of a write in one step: it is too late to take them back. Read: r0-",
  ],
  [
    "returns an old page of a scan",
    keepingPages,
    "scan returns what was committed just before, also in a range that was read before",
    "scan did not return what was committed before: it returned an old page",
  ],
  [
    "compares keys without case",
    caseless,
    "scan returns the keys from `from` up to but not `to`, byte by byte, or in reverse",
    "compare keys exactly, without wildcards or case rules",
  ],
  [
    "stores large values before it compares the versions",
    storingApart(byKey, "puts early"),
    apart,
    "A write returned false, and its large value is there. Store large values in the same step",
  ],
  [
    "deletes a large value that two records share",
    storingApart(({ value }) => `@${value}`, "deletes"),
    apart,
    "A record was deleted, and another one with an equal large value has lost it.",
  ],
  [
    "names large values by the time",
    storingApart((_, next) => `@${next}`),
    apart,
    "Large values of one write were mixed up. If you store them apart, give each its own key.",
  ],
  [
    "keeps a large value after its record got a short one",
    storingApart(byKey, "reads by key"),
    apart,
    "A large value, or a part of it, stayed after its record got a short one or was deleted.",
  ],
  [
    "reads large values after their records",
    storingApart(byKey, "reads later"),
    "beside writes, read and scan return each record as one write left it, and miss none",
    "and the large value of another version. If you store large values apart, read them in one step",
  ],
];

describe("the exam of an adapter that takes a shorter way", () => {
  const failuresOf = async (make: Make) => {
    const results = await examineStore({
      create: async () => {
        const records: Records = new Map();
        // Conflicts last longer on a busy machine.
        const open = () => storeOver(make(records), { busyTimeoutMs: 30_000 });
        return { store: open(), reopen: async () => open() };
      },
    });
    return results.filter(({ outcome }) => outcome === "failed");
  };

  it.each([
    ["takes none", batchAdapter],
    ["stores large values apart, by the versions of their records", storingApart(byVersion)],
  ])("passes one that %s", async (_, make) => {
    expect(await failuresOf(make)).toEqual([]);
  });

  it.each(defects)("fails one that %s, and names it", async (_, make, caughtBy, says) => {
    const failed = await failuresOf(make);
    expect(failed.find(({ check }) => check === caughtBy)?.reason).toContain(says);
    expect(new Set(failed.map(({ member }) => member))).toEqual(new Set(["adapter"]));
  });
});
