import { setImmediate as nextIteration } from "node:timers/promises";
import {
  type BatchAdapter,
  type KeyRange,
  type PaymentStore,
  type RecordChange,
  storeOver,
  type StoredRecord,
  TillkitError,
  type TransactionAdapter,
} from "tillkit";
import { examineStore } from "tillkit/testing";
import { checks } from "./checks.js";
import {
  apply,
  batchAdapter,
  expectedIn,
  memoryAdapter,
  type MemoryTransaction,
  type Records,
} from "./memory-adapter.js";

const { beside, order, many, sees } = checks;

type Batch = BatchAdapter<never>;
type Transactional = TransactionAdapter<MemoryTransaction>;

const inRange = (records: Records, range: KeyRange) => memoryAdapter(records).scan(range);

/** Reads a range in pages. `firstOf` returns the index of its first record. `last` is the key before it. */
function inPages(firstOf: (all: readonly StoredRecord[], page: number, last: string) => number) {
  return (records: Records): Batch => ({
    ...batchAdapter(records),
    async scan(range) {
      const found: StoredRecord[] = [];
      for (let page = 0; found.length < range.limit; page++) {
        const all = await inRange(records, { ...range, limit: Infinity });
        const first = page === 0 ? 0 : firstOf(all, page, found.at(-1)!.key);
        const some = first < 0 ? [] : all.slice(first, first + pageSize);
        found.push(...some);
        if (some.length < pageSize) break;
        await nextIteration();
      }
      return found.slice(0, range.limit);
    },
  });
}
const pageSize = 100;

/** Compares all versions under a lock of all processes, and then writes these parts one after the other. */
function inParts(partsOf: (changes: readonly RecordChange[]) => readonly RecordChange[][]) {
  const lockOf = new WeakMap<Records, Promise<unknown>>();
  return (records: Records): Batch => {
    const write = async (changes: readonly RecordChange[]): Promise<boolean> => {
      if (!changes.every(expectedIn(records))) return false;
      for (const part of partsOf(changes)) {
        apply(records, part);
        for (let pauses = 0; pauses < 2; pauses++) await nextIteration();
      }
      return true;
    };
    return {
      ...batchAdapter(records),
      write(changes) {
        const own = (lockOf.get(records) ?? Promise.resolve()).then(() => write(changes));
        lockOf.set(records, own);
        return own;
      },
    };
  };
}

const inserts = ({ version }: RecordChange): boolean => version === 0;
const deletions = ({ value }: RecordChange): boolean => value === null;
const updates = (change: RecordChange): boolean => !inserts(change) && !deletions(change);

/** Reads the records whose keys match a pattern or lie in a range, which are more than the wanted ones. */
function readingMore(isFound: (key: string, wanted: readonly string[]) => boolean) {
  return (records: Records): Batch => ({
    ...batchAdapter(records),
    read: async (keys) => [...records.values()].filter(({ key }) => isFound(key, keys)),
  });
}

/** Returns a record that was changed meanwhile a second time, as a database may that has moved its row. */
const readingTwice = (records: Records): Batch => ({
  ...batchAdapter(records),
  async scan(range) {
    const found = await inRange(records, range);
    await nextIteration();
    const moved = found.flatMap((one) => {
      const now = records.get(one.key);
      return now && now !== one ? [now] : [];
    });
    return [...found, ...moved].slice(0, range.limit);
  },
});

/** Deletes immediately, and does not undo it if the transaction is rolled back. */
const keepingDeletions = (adapter: Transactional, records: Records): Transactional => ({
  ...adapter,
  async write(changes, tx) {
    const isDone = await adapter.write(changes, tx);
    if (isDone) for (const { key } of changes.filter(deletions)) records.delete(key);
    return isDone;
  },
});

/** Lets everybody read the updates and the deletions of open transactions. */
const showingOpen = (adapter: Transactional, records: Records): Transactional => {
  const open = new Map<MemoryTransaction, readonly RecordChange[]>();
  const shown = (): Transactional => {
    const all = new Map(records);
    for (const changes of open.values())
      apply(
        all,
        changes.filter((one) => !inserts(one)),
      );
    return memoryAdapter(all);
  };
  return {
    ...adapter,
    read: (keys, tx) => (tx ? adapter.read(keys, tx) : shown().read(keys)),
    scan: (range, tx) => (tx ? adapter.scan(range, tx) : shown().scan(range)),
    write: async (changes, tx) => {
      const isDone = await adapter.write(changes, tx);
      if (isDone) open.set(tx, changes);
      return isDone;
    },
    transaction: (run) => {
      let own: MemoryTransaction | undefined;
      return adapter.transaction((tx) => run((own = tx))).finally(() => own && open.delete(own));
    },
  };
};

const batch = (make: (records: Records) => Batch) => (records: Records) =>
  storeOver(make(records), { busyTimeoutMs: 30_000 }) as PaymentStore<never>;
const transactional =
  (spoil: (adapter: Transactional, records: Records) => Transactional) => (records: Records) =>
    storeOver(spoil(memoryAdapter(records), records)) as PaymentStore<never>;

const uncommitted = "Without tx, a change was seen that was not committed.";

const defects: [
  does: string,
  open: (records: Records) => PaymentStore<never>,
  caughtBy: string,
  says: string,
][] = [
  ["does not roll back deletions", transactional(keepingDeletions), sees, uncommitted],
  ["shows updates and deletions that are not committed", transactional(showingOpen), sees, uncommitted],
  [
    "reads pages of a hundred by their number",
    batch(inPages((_, page) => page * pageSize)),
    beside,
    "begin each page after the last key of the page before",
  ],
  [
    "ends at a page whose last record was deleted meanwhile",
    batch(inPages((all, _, last) => all.findIndex(({ key }) => key === last) + 1 || -1)),
    beside,
    "begin each page after the last key of the page before",
  ],
  [
    "returns a changed record twice",
    batch(readingTwice),
    beside,
    "twice, while records in its range were written",
  ],
  [
    "makes updates, insertions and deletions in three steps",
    batch(inParts((all) => [all.filter(updates), all.filter(inserts), all.filter(deletions)])),
    beside,
    "was not found, then other/l9 was read with version",
  ],
  [
    "makes insertions before updates",
    batch(inParts((all) => [all.filter(inserts), all.filter((one) => !inserts(one))])),
    beside,
    "was found, then other/l9 was read with version",
  ],
  [
    "writes many changes in parts of a hundred",
    batch(
      inParts((all) =>
        Array.from({ length: Math.ceil(all.length / 100) }, (_, at) => all.slice(at * 100, at * 100 + 100)),
      ),
    ),
    many,
    "1000 changes were written in several steps: the first record was read, and then not yet the last one.",
  ],
  [
    "reads keys as regular expressions",
    batch(
      readingMore((key, keys) =>
        keys.some((one) => new RegExp(`^${one.replace(/[*()+?]/g, String.raw`\$&`)}$`).test(key)),
      ),
    ),
    order,
    'compare keys exactly, without wildcards or case rules. Expected ["exam/. 1',
  ],
  [
    "reads all keys between the first and the last one",
    batch(readingMore((key, keys) => key >= keys.toSorted()[0]! && key <= keys.toSorted().at(-1)!)),
    order,
    "read returned a record of another key",
  ],
  [
    "takes a range for a prefix",
    batch((records) => ({
      ...batchAdapter(records),
      async scan(range) {
        const prefix = range.from.slice(0, range.from.lastIndexOf("/") + 1);
        const found = await inRange(records, { ...range, limit: Infinity });
        return found.filter(({ key }) => key.startsWith(prefix)).slice(0, range.limit);
      },
    })),
    order,
    "scan left out keys that are in the range",
  ],
  [
    "throws a conflict",
    batch((records) => ({
      ...batchAdapter(records),
      async write(changes) {
        if (await batchAdapter(records).write(changes, [])) return true;
        throw new TillkitError("store_conflict", "A version has changed.");
      },
    })),
    "write returns false and writes nothing where any record has another version",
    "write rejected: A version has changed. If a record had another version",
  ],
  [
    "refuses writes of more than 80 changes",
    batch((records) => ({
      ...batchAdapter(records),
      write: async (changes) => {
        if (changes.length > 80) throw new Error("too many operations");
        return batchAdapter(records).write(changes, []);
      },
    })),
    many,
    "A write of 1000 changes rejected: The database did not do what was asked: too many operations. If the database can write fewer changes in one step, set maxChanges.",
  ],
  [
    "takes the time from the process",
    batch((records) => ({ ...batchAdapter(records), now: async () => Date.now() })),
    "a lease ends although the claimer's own clock stands still",
    "take the time from the database, not from the process",
  ],
];

describe("the exam of an adapter that reads or writes in several steps, or not exactly", () => {
  it.each(defects)("fails one that %s, and names it", async (_, open, caughtBy, says) => {
    const results = await examineStore({
      create: async () => {
        const records: Records = new Map();
        return { store: open(records), reopen: async () => open(records) };
      },
    });
    const failed = results.filter(({ outcome }) => outcome === "failed");
    expect(failed.find(({ check }) => check === caughtBy)?.reason).toContain(says);
  });
});
