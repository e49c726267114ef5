import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { storeOver, type StoredRecord, type TransactionAdapter } from "tillkit";
import { examineStore } from "tillkit/testing";
import { checks } from "./checks.js";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

const { order, limits } = checks;

type Adapter = TransactionAdapter<MemoryTransaction>;
type Spoil = (adapter: Adapter) => Adapter;

/** Compares runs of digits as numbers, and everything else byte by byte. */
function natural(a: string, b: string): number {
  const partsOf = (key: string): string[] => key.match(/\d+|\D/g) ?? [];
  const [one, other] = [partsOf(a), partsOf(b)];
  const at = one.findIndex((part, index) => part !== other[index]);
  const [left = "", right = ""] = at < 0 ? ["", other[one.length]] : [one[at], other[at]];
  if (/^\d+$/.test(left) && /^\d+$/.test(right)) return Number(left) - Number(right);
  return left < right ? -1 : Number(left > right);
}

/** Compares the first 255 characters, as a database may that has only these in its index. */
function byBeginning(a: string, b: string): number {
  const [one, other] = [a.slice(0, 255), b.slice(0, 255)];
  return one < other ? -1 : Number(one > other);
}

/** Scans in this order. */
function ordering(compare: (a: string, b: string) => number): Spoil {
  return (adapter) => ({
    ...adapter,
    async scan({ from, to, limit, reverse }, tx) {
      const all = await adapter.scan({ from: "", to: "~", limit: 1e6, reverse: false }, tx);
      const found = all.filter(({ key }) => compare(key, from) >= 0 && compare(key, to) < 0);
      return found.toSorted((a, b) => compare(a.key, b.key) * (reverse ? -1 : 1)).slice(0, limit);
    },
  });
}

/** Takes the first records of a range, and then reverses them. */
const reversingPage: Spoil = (adapter) => ({
  ...adapter,
  scan: async (range, tx) => {
    const found = await adapter.scan({ ...range, reverse: false }, tx);
    return range.reverse ? found.toReversed() : found;
  },
});

/** Ends the answer of `read` at one megabyte. */
const readingMegabyte: Spoil = (adapter) => ({
  ...adapter,
  async read(keys, tx) {
    let size = 0;
    return (await adapter.read(keys, tx)).filter(({ value }) => (size += value.length) < 1024 * 1024);
  },
});

/** Puts values into a template with `replace`, which gives `$&` a meaning. */
const replacing: Spoil = (adapter) => ({
  ...adapter,
  write: (changes, tx) =>
    adapter.write(
      changes.map((one) => ({ ...one, value: one.value && "VALUE".replace("VALUE", one.value) })),
      tx,
    ),
});

/** Takes part in the transaction in which it begins one, as ORMs do that keep it in an AsyncLocalStorage. */
const joining: Spoil = (adapter) => {
  const current = new AsyncLocalStorage<MemoryTransaction>();
  return {
    ...adapter,
    transaction(run) {
      const outer = current.getStore();
      return outer ? run(outer) : adapter.transaction((tx) => current.run(tx, () => run(tx)));
    },
  };
};

/** Reads in the transaction in which it is called, also without `tx`. */
const readingInside: Spoil = (adapter) => {
  const current = new AsyncLocalStorage<MemoryTransaction>();
  return {
    ...adapter,
    read: (keys, tx = current.getStore()) => adapter.read(keys, tx),
    scan: (range, tx = current.getStore()) => adapter.scan(range, tx),
    transaction: (run) => adapter.transaction((tx) => current.run(tx, () => run(tx))),
  };
};

/** Scans a range once in each transaction, and keeps the page. */
const scanningOnce: Spoil = (adapter) => {
  const pages = new WeakMap<object, Map<string, readonly StoredRecord[]>>();
  return {
    ...adapter,
    async scan(range, tx) {
      if (tx === undefined) return adapter.scan(range);
      const known = pages.get(tx) ?? new Map<string, readonly StoredRecord[]>();
      const [name, page] = [JSON.stringify(range), known.get(JSON.stringify(range))];
      const found = page ?? (await adapter.scan(range, tx));
      pages.set(tx, known.set(name, found));
      return found;
    },
  };
};

/** Takes the version of a changed record from a clock. */
const clockVersions: Spoil = (adapter) => {
  const since = 1_700_000_000;
  const shown = (record: StoredRecord) => ({
    ...record,
    version: record.version + (record.version > 1 ? since : 0),
  });
  return {
    ...adapter,
    read: async (keys, tx) => (await adapter.read(keys, tx)).map(shown),
    scan: async (range, tx) => (await adapter.scan(range, tx)).map(shown),
    write: (changes, tx) =>
      adapter.write(
        changes.map((one) => ({ ...one, version: one.version % since })),
        tx,
      ),
  };
};

/** Counts a row as written only if its value differs. */
const countingChanged: Spoil = (adapter) => ({
  ...adapter,
  async write(changes, tx) {
    const keys = changes.map(({ key }) => key);
    const found = keys.length > 100 ? [] : await adapter.read(keys, tx);
    const isEqual = changes.some(({ key, value }) => found.find((one) => one.key === key)?.value === value);
    return !isEqual && adapter.write(changes, tx);
  },
});

/** Reads a range in pages, and begins each page with the last record of the page before. */
const overlappingPages: Spoil = (adapter) => ({
  ...adapter,
  async scan(range, tx) {
    const all = await adapter.scan(range, tx);
    return all.flatMap((record, at) => (at % 50 === 49 ? [record, record] : [record])).slice(0, range.limit);
  },
});

/** Finds keys without regard to case, and stores them as they are. */
const findingCaseless: Spoil = (adapter) => ({
  ...adapter,
  async read(keys, tx) {
    const wanted = new Set(keys.map((key) => key.toLowerCase()));
    const all = await adapter.scan({ from: "", to: "~", limit: 1e6, reverse: false }, tx);
    return all.filter(({ key }) => wanted.has(key.toLowerCase()));
  },
});

/** Stores keys without capitals. */
const storingCaseless: Spoil = (adapter) => ({
  ...adapter,
  write: async (changes, tx) => {
    const lower = changes.map((change) => ({ ...change, key: change.key.toLowerCase() }));
    return new Set(lower.map(({ key }) => key)).size === lower.length && adapter.write(lower, tx);
  },
});

/** Has four connections. A transaction takes one, and its write another one. */
const takingTwoConnections: Spoil = (adapter) => {
  const pool = { free: 4 };
  const withConnection = async <T>(use: () => Promise<T>): Promise<T> => {
    while (pool.free === 0) await delay(1, undefined, { ref: false });
    pool.free -= 1;
    return use().finally(() => (pool.free += 1));
  };
  return {
    ...adapter,
    transaction: (run) => withConnection(() => adapter.transaction(run)),
    async write(changes, tx) {
      await delay(1);
      return withConnection(() => adapter.write(changes, tx));
    },
  };
};

const defects: [does: string, spoil: Spoil, caughtBy: string, says: string][] = [
  ["compares digits as numbers", ordering(natural), order, "byte by byte, also capitals and digits"],
  ["compares the first 255 characters", ordering(byBeginning), order, "compare all of a key"],
  ["reverses the first page of a range", reversingPage, limits, 'Expected ["n1999",'],
  ["reads no more than a megabyte", readingMegabyte, limits, "read did not return all of 100 records"],
  [
    "puts values into a template",
    replacing,
    "read and scan return a value as the text that was written, also one that was written again",
    "A value of 70176 characters became one of",
  ],
  [
    "takes part in the transaction in which it begins another one",
    joining,
    "of two open transactions one rolls back alone, and the other commits alone",
    "also if one begins inside of the other",
  ],
  [
    "reads in the transaction in which it is called",
    readingInside,
    "read and scan with tx see what its transaction wrote, and nobody else does",
    "Without tx, a change was seen that was not committed.",
  ],
  [
    "scans a range once in a transaction",
    scanningOnce,
    "with tx, read and scan return what others have committed since its transaction began",
    "With tx, an old snapshot was read",
  ],
  [
    "takes versions from a clock",
    clockVersions,
    "read returns what exists, also what was committed just before, and nothing else",
    "A new record has version 1. Each change adds 1",
  ],
  [
    "counts a row as written only if its value differs",
    countingChanged,
    "scan returns what was committed just before, also in a range that was read before",
    "exam/b was written with version 1, and has 1 now. A new record has version 1. Each change adds 1",
  ],
  ["reads pages that overlap", overlappingPages, limits, "Return each record once, in the order of the keys"],
  [
    "includes the end of a range",
    (adapter) => ({ ...adapter, scan: (range, tx) => adapter.scan({ ...range, to: `${range.to} ` }, tx) }),
    order,
    "scan returned the key `to`",
  ],
  [
    "leaves out the start of a range",
    (adapter) => ({
      ...adapter,
      scan: (range, tx) => adapter.scan({ ...range, from: `${range.from} ` }, tx),
    }),
    order,
    "scan left out the key `from`",
  ],
  [
    "stores keys without capitals",
    storingCaseless,
    order,
    "write returned false for 27 new records with different keys. Compare keys byte by byte",
  ],
  ["finds keys without case", findingCaseless, order, "read returned a record of another key"],
  [
    "returns false although it has written",
    (adapter) => ({
      ...adapter,
      write: async (changes) => (await adapter.write(changes, { id: 0 })) && false,
    }),
    "read returns what exists, also what was committed just before, and nothing else",
    "This write is there, or one that had returned false: roll back",
  ],
  [
    "runs a transaction again without a rollback",
    (adapter) => ({
      ...adapter,
      transaction: (run) => adapter.transaction((tx) => run(tx).catch(() => run(tx))),
    }),
    "read and scan with tx see what its transaction wrote, and nobody else does",
    "A record does not have the version that the transaction expects.",
  ],
  [
    "takes a second connection for each write",
    takingTwoConnections,
    "writes at the same time that share no record are all done, and all of them are there",
    " other calls. Each of them may wait for a connection or a lock that another one holds.",
  ],
];

describe("the exam of an adapter with an ordinary mistake", () => {
  it.each(defects)("fails one that %s, and names it", async (_, spoil, caughtBy, says) => {
    const results = await examineStore({
      create: async () => {
        const records = new Map<string, StoredRecord>();
        const open = () => storeOver(spoil(memoryAdapter(records)), { busyTimeoutMs: 500 });
        return { store: open(), reopen: async () => open() };
      },
      timeoutMs: 1500,
    });
    const failed = results.filter(({ outcome }) => outcome === "failed");
    expect(failed.find(({ check }) => check === caughtBy)?.reason).toContain(says);
    expect(new Set(failed.map(({ member }) => member))).toEqual(new Set(["adapter"]));
  });
});
