import { setImmediate as nextIteration } from "node:timers/promises";
import {
  type BatchAdapter,
  type RecordChange,
  storeOver,
  type StoredRecord,
  type TransactionAdapter,
} from "tillkit";
import { checks, runCheck } from "./checks.js";
import {
  apply,
  batchAdapter,
  expectedIn,
  memoryAdapter,
  type MemoryTransaction,
  type Records,
  versionIn,
} from "./memory-adapter.js";

const { read, order, limits, stale, many, beside, oneDone, sees } = checks;

type Batch = BatchAdapter<string>;
type Write = Batch["write"];
type Make = (records: Records, rows: Set<string>) => Batch;

const right: Make = (records, rows) => ({
  ...batchAdapter(records),
  async write(changes, items) {
    const isDone = await batchAdapter(records).write(changes, []);
    if (isDone) for (const item of items) rows.add(item);
    return isDone;
  },
});

/** Replaces members of the right adapter. */
const but =
  (spoil: (adapter: Batch, records: Records, rows: Set<string>) => Partial<Batch>): Make =>
  (records, rows) => {
    const adapter = right(records, rows);
    return { ...adapter, ...spoil(adapter, records, rows) };
  };

/** Writes where this comparison finds the versions right. */
const comparing = (
  isExpected: (changes: readonly RecordChange[], records: Records, items: number) => boolean,
) =>
  but((_, records, rows) => ({
    write: async (changes, items) => {
      if (!isExpected(changes, records, items.length)) return false;
      const made = changes.map((change) => ({ ...change, version: versionIn(records, change.key) }));
      apply(records, made);
      for (const item of items) rows.add(item);
      return true;
    },
  }));

const partsOf = (changes: readonly RecordChange[], size: number) =>
  Array.from({ length: Math.ceil(changes.length / size) }, (_, at) =>
    changes.slice(at * size, (at + 1) * size),
  );

const firstPart = ({ key }: RecordChange): string => key.split("/")[0]!;
const partitionsOf = (changes: readonly RecordChange[]) =>
  [...new Set(changes.map(firstPart))].map((part) => changes.filter((one) => firstPart(one) === part));

const isLarge = ({ value }: RecordChange): boolean => (value?.length ?? 0) > 4000;
const bySize = (changes: readonly RecordChange[]) => [
  changes.filter((one) => !isLarge(one)),
  changes.filter(isLarge),
];

/** Compares all versions under a lock of all processes, and then writes these parts one after the other. */
function inParts(partsIn: (changes: readonly RecordChange[]) => readonly (readonly RecordChange[])[]): Make {
  const lockOf = new WeakMap<Records, Promise<unknown>>();
  return but((_, records) => {
    const write = async (changes: readonly RecordChange[]): Promise<boolean> => {
      if (!changes.every(expectedIn(records))) return false;
      for (const [at, part] of partsIn(changes).entries()) {
        if (at > 0) await nextIteration();
        apply(records, part);
      }
      return true;
    };
    return {
      write(changes) {
        const own = (lockOf.get(records) ?? Promise.resolve()).then(() => write(changes));
        lockOf.set(records, own);
        return own;
      },
    };
  });
}

/** Compares and writes each partition in its own step. */
const partitioned = but((_, records) => ({
  async write(changes) {
    let isDone = true;
    for (const part of partitionsOf(changes)) {
      await nextIteration();
      if (part.every(expectedIn(records))) apply(records, part);
      else isDone = false;
    }
    return isDone;
  },
}));

/** Gives the answer of a call that still runs to later calls. */
function sharing<Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) {
  const running = new Map<string, Promise<T>>();
  return (...args: Args): Promise<T> => {
    const name = JSON.stringify(args);
    const ask = async (): Promise<T> => {
      const answer = await call(...args);
      await nextIteration();
      return answer;
    };
    const shared = running.get(name) ?? ask().finally(() => running.delete(name));
    running.set(name, shared);
    return shared;
  };
}

/** Also makes each change on other records that the database finds for its key. */
function touching(isTouched: (key: string, change: RecordChange) => boolean): Make {
  return but((adapter, records) => ({
    async write(changes, items) {
      if (!(await adapter.write(changes, items))) return false;
      for (const change of changes.filter(({ version }) => version > 0))
        for (const key of [...records.keys()].filter((one) => one !== change.key))
          if (isTouched(key, change)) apply(records, [{ ...change, key }]);
      return true;
    },
  }));
}

/** Reads a range in two pages, and keeps the last key of the first page for all its scans. */
const sharingPosition = but((adapter) => {
  let last = "";
  return {
    async scan(range) {
      const page = await adapter.scan({ ...range, limit: Math.min(range.limit, 100) });
      if (page.length < 100) return page;
      last = page.at(-1)!.key;
      await nextIteration();
      const rest = range.reverse ? { to: last } : { from: `${last} ` };
      return [...page, ...(await adapter.scan({ ...range, ...rest }))].slice(0, range.limit);
    },
  };
});

/** Has an index of its own, which a write changes in another step than the records. */
function indexed(isIndexFirst: boolean): Make {
  const indexOf = new WeakMap<Records, Records>();
  return but((adapter, records) => {
    const index = indexOf.get(records) ?? new Map<string, StoredRecord>();
    indexOf.set(records, index);
    const steps: ((changes: readonly RecordChange[]) => unknown)[] = [
      (changes) => apply(records, changes),
      (changes) => apply(index, changes),
    ];
    return {
      scan: (range) => batchAdapter(index).scan(range),
      async write(changes) {
        if (!changes.every(expectedIn(records)) || !changes.every(expectedIn(index))) return false;
        const [first, second] = isIndexFirst ? steps.toReversed() : steps;
        first!(changes);
        await nextIteration();
        second!(changes);
        return true;
      },
    };
  });
}

/** Compares versions with counters, which a conflict does not put back. */
function counting(records: Records): (changes: readonly RecordChange[]) => boolean {
  const counts = countsOf.get(records) ?? new Map<string, number>();
  countsOf.set(records, counts);
  return (changes) =>
    changes.every(({ key, version, value }) => {
      if ((counts.get(key) ?? 0) !== version) return false;
      return counts.set(key, value === null ? 0 : version + 1);
    });
}
const countsOf = new WeakMap<Records, Map<string, number>>();

/** Knows which records its process has made, and does not insert these again. */
const knowing = but((adapter) => {
  const known = new Set<string>();
  const write: Write = async (changes, items) => {
    if (changes.some(({ key, version }) => version === 0 && known.has(key))) return false;
    const isDone = await adapter.write(changes, items);
    for (const { key, value } of isDone ? changes : [])
      if (value === null) known.delete(key);
      else known.add(key);
    return isDone;
  };
  return { write };
});

const page = "scan returns what was committed just before, also in a range that was read before";
const ofOne = "of such writes, those of the application commit only with the one that is done";
const commits = "a write of the application commits with its transaction";

const ownVersion = "Compare each record with its own version, and count each change once.";
const exactly = "compare keys exactly, without prefixes, patterns or case rules.";
const inOneStep = "change records and their indexes in one step, and return nothing older";

const defects: [does: string, make: Make, caughtBy: string, says: string][] = [
  [
    "compares versions modulo 256",
    comparing((changes, records) =>
      changes.every(({ key, version }) => versionIn(records, key) % 256 === version % 256),
    ),
    beside,
    "write returned true for version 4 of exam/l1, which has 260: compare all digits and bits",
  ],
  [
    "compares the beginning of a version",
    comparing((changes, records) =>
      changes.every(({ key, version }) => String(versionIn(records, key)).startsWith(String(version))),
    ),
    beside,
    "write returned true for version 26 of exam/l1, which has 260",
  ],
  [
    "compares versions with those of all changes",
    comparing((changes, records) => {
      const versions = new Set(changes.map(({ version }) => version));
      return changes.every(({ key }) => versions.has(versionIn(records, key)));
    }),
    stale,
    ownVersion,
  ],
  [
    "compares one of several updates",
    comparing((changes, records) => {
      const isOnlyUpdates = changes.every(({ version, value }) => version > 0 && value !== null);
      return isOnlyUpdates ? changes.some(expectedIn(records)) : changes.every(expectedIn(records));
    }),
    stale,
    "write returned true for updates alone, of which exam/b has another version",
  ],
  [
    "counts an update as two rows",
    comparing((changes, records) => {
      const rows = changes.filter(expectedIn(records)).map(({ version }) => (version > 0 ? 2 : 1));
      return rows.reduce((sum, count) => sum + count, 0) >= changes.length;
    }),
    stale,
    ownVersion,
  ],
  [
    "looks at the result of its last hundred changes",
    comparing((changes, records) => (partsOf(changes, 100).at(-1) ?? []).every(expectedIn(records))),
    many,
    "write returned true, and the first of 1000 changes expected another version",
  ],
  [
    "does not compare deletions beside writes of the application",
    comparing((changes, records, items) =>
      changes.every((one) => (items > 0 && one.value === null) || expectedIn(records)(one)),
    ),
    ofOne,
    "4 of four writes with a write of the application were done that expected version 1 of one record (delete)",
  ],
  [
    "does not compare equal values beside writes of the application",
    comparing((changes, records, items) =>
      changes.every(
        (one) => (items > 0 && records.get(one.key)?.value === one.value) || expectedIn(records)(one),
      ),
    ),
    ofOne,
    "(equal update)",
  ],
  [
    "makes 25 writes of the application",
    but((adapter) => ({ write: (changes, items) => adapter.write(changes, items.slice(0, 25)) })),
    commits,
    "Transactions with 1 and 30 writes of the application resolved, and 5 are missing.",
  ],
  [
    "writes a thousand changes in two parts",
    inParts((changes) => partsOf(changes, 500)),
    many,
    "1000 changes were written in several steps: the first record was read, and then not yet the last one",
  ],
  [
    "writes one partition after the other under a lock",
    inParts(partitionsOf),
    beside,
    "then other/l9 with version",
  ],
  ["writes large values in a step of their own", inParts(bySize), beside, "then other/l9 with version"],
  [
    "compares and writes each partition alone",
    partitioned,
    oneDone,
    "A write that returned false has left records",
  ],
  [
    "shares the answer of a read that still runs",
    but((adapter) => ({ read: sharing((keys) => adapter.read(keys)) })),
    read,
    "the read is old (a cache, a replica, the answer to an earlier call)",
  ],
  [
    "shares the page of a scan that still runs",
    but((adapter) => ({ scan: sharing((range) => adapter.scan(range)) })),
    page,
    "it returned an old page, the answer to an earlier call",
  ],
  [
    "writes the value of the last change to all records",
    but((adapter) => ({
      write: (changes, items) =>
        adapter.write(
          changes.map((one) => (one.value === null ? one : { ...one, value: changes.at(-1)!.value })),
          items,
        ),
    })),
    read,
    "A record has the value of another change.",
  ],
  [
    "does not insert again what another process has deleted",
    knowing,
    read,
    "exam/a was written with version 0",
  ],
  [
    "does not put back its counters after a conflict",
    (records, rows) => comparing(counting(records))(records, rows),
    stale,
    "an earlier write may have left something, such as a counter or a cache",
  ],
  [
    "deletes the records below a key",
    touching((key, { key: parent, value }) => value === null && key.startsWith(`${parent}/`)),
    order,
    exactly,
  ],
  [
    "changes records without regard to case",
    touching((key, change) => key.toLowerCase() === change.key.toLowerCase()),
    order,
    exactly,
  ],
  [
    "sorts the records of a page, and not of the range",
    but((_, records) => ({
      scan: async (range) => {
        if (range.reverse) return batchAdapter(records).scan(range);
        const found = [...records.values()].filter(({ key }) => key >= range.from && key < range.to);
        return found.slice(0, range.limit).toSorted((a, b) => (a.key < b.key ? -1 : 1));
      },
    })),
    limits,
    "Return each record once, in the order of the keys",
  ],
  [
    "leaves out records that were deleted since it read their index",
    but((adapter, records) => ({
      async scan(range) {
        const found = await adapter.scan(range);
        await nextIteration();
        return found.flatMap(({ key }) => records.get(key) ?? []);
      },
    })),
    beside,
    "If you read an index first, replace records that were deleted meanwhile",
  ],
  ["has one position for all its scans", sharingPosition, beside, "Each scan has a position of its own."],
  ["changes its index after the records", indexed(false), beside, inOneStep],
  ["changes its index before the records", indexed(true), beside, inOneStep],
];

function examineBatch(check: string, make: Make): Promise<void> {
  const create = async () => {
    const [records, rows] = [new Map<string, StoredRecord>(), new Set<string>()];
    // Conflicts last longer on a busy machine.
    const open = () => storeOver(make(records, rows), { busyTimeoutMs: 30_000 });
    const probe = {
      write: (tx: { add(item: string): void }, key: string) => tx.add(key),
      has: async (key: string) => rows.has(key),
    };
    return { store: open(), reopen: async () => open(), probe };
  };
  return runCheck(check, { create });
}

describe("the exam of an adapter that is right only for some records, keys or moments", () => {
  it.each([...new Set(defects.map(([, , check]) => check))])(
    "passes one that is right: %s",
    async (check) => {
      await expect(examineBatch(check, right)).resolves.toBeUndefined();
    },
  );

  it.each(defects)("fails one that %s, and names it", async (_, make, caughtBy, says) => {
    await expect(examineBatch(caughtBy, make)).rejects.toThrow(says);
  });

  it("fails one that does not put back its counters after a rollback, and names it", async () => {
    const records: Records = new Map();
    const isCounted = counting(records);
    const adapter = memoryAdapter(records);
    const write: TransactionAdapter<MemoryTransaction>["write"] = async (changes, tx) =>
      isCounted(changes) && adapter.write(changes, tx);
    const create = async () => storeOver({ ...adapter, write });
    const examined = runCheck(sees, { create });
    await expect(examined).rejects.toThrow("such as a counter or a cache, that a rollback did not undo");
  });
});
