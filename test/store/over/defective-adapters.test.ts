import { type RecordChange, storeOver, type StoredRecord, type TransactionAdapter } from "tillkit";
import { type CheckResult, examineStore, type StoreFactory } from "tillkit/testing";
import { checks, runCheck } from "./checks.js";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

const { read, stale, oneDone: allOrNothing, order, limits, sees } = checks;

type Adapter = TransactionAdapter<MemoryTransaction>;
type Spoil = (adapter: Adapter, records: Map<string, StoredRecord>) => Adapter;

/** Makes stores over these adapters. Both stores of a check share their records. */
function storesOver(spoil: Spoil, busyTimeoutMs = 500): StoreFactory<MemoryTransaction> {
  return {
    create: async () => {
      const records = new Map<string, StoredRecord>();
      const open = () => storeOver(spoil(memoryAdapter(records), records), { busyTimeoutMs });
      return { store: open(), reopen: async () => open() };
    },
  };
}

function examOf(spoil: Spoil, busyTimeoutMs?: number): Promise<CheckResult[]> {
  return examineStore(storesOver(spoil, busyTimeoutMs));
}

const caseless: Spoil = (adapter) => {
  const lower = <T extends { key: string }>(changes: readonly T[]): T[] =>
    changes.map((change) => ({ ...change, key: change.key.toLowerCase() }));
  return {
    ...adapter,
    read: async (keys, tx) => {
      const found = await adapter.read(
        keys.map((key) => key.toLowerCase()),
        tx,
      );
      return found.map((one) => ({ ...one, key: keys.find((key) => key.toLowerCase() === one.key)! }));
    },
    write: (changes, tx) => adapter.write(lower(changes), tx),
    scan: (range, tx) =>
      adapter.scan({ ...range, from: range.from.toLowerCase(), to: range.to.toLowerCase() }, tx),
  };
};

/** Keeps only the beginning of each key, as a column that is too short does. */
function keepingOf(length: number): Spoil {
  const begin = (key: string): string => key.slice(0, length);
  return (adapter) => ({
    ...adapter,
    read: async (keys, tx) => {
      const found = await adapter.read(keys.map(begin), tx);
      return found.map((one) => ({ ...one, key: keys.find((key) => begin(key) === one.key)! }));
    },
    write: (changes, tx) =>
      adapter.write(
        changes.map((one) => ({ ...one, key: begin(one.key) })),
        tx,
      ),
  });
}

/** Writes through another connection instead of `tx`. Only a payment's own records, as a store that has its own columns for them. */
const leaky: Spoil = (adapter, records) => ({
  ...adapter,
  write: async (changes, tx) => {
    const isDone = await adapter.write(changes, tx);
    for (const { key, value, version } of changes)
      if (isDone && value !== null && version > 0 && key.startsWith("orders/"))
        records.set(key, { key, value, version });
    return isDone;
  },
});

const rollsBack = "what write did is rolled back where it returned false or its transaction rejects";

/** Returns an adapter that checks the versions of some changes only. */
function unchecked(
  isChecked: (change: RecordChange, index: number, all: readonly RecordChange[]) => boolean,
) {
  return (_: Adapter, records: Map<string, StoredRecord>): Adapter => {
    const blind = memoryAdapter(records, () => true);
    const strict = memoryAdapter(new Map());
    return {
      ...strict,
      ...blind,
      write: async (changes, tx) =>
        changes.filter(isChecked).every(({ key, version }) => (records.get(key)?.version ?? 0) === version) &&
        blind.write(changes, tx),
    };
  };
}

/** Compares all versions, and then writes one record after the other, each only if its version is still the same. */
const torn: Spoil = (adapter, records) => {
  const versionOf = (key: string): number => records.get(key)?.version ?? 0;
  return {
    ...adapter,
    write: async (changes) => {
      if (changes.some(({ key, version }) => versionOf(key) !== version)) return false;
      await new Promise(setImmediate);
      let isDone = true;
      for (const { key, version, value } of changes)
        if (versionOf(key) !== version) isDone = false;
        else if (value === null) records.delete(key);
        else records.set(key, { key, value, version: version + 1 });
      return isDone;
    },
  };
};

const defects: [does: string, spoil: Spoil, caughtBy: string][] = [
  ["says true and writes nothing", (adapter) => ({ ...adapter, write: async () => true }), read],
  ["ignores versions", unchecked(() => false), stale],
  ["writes one record after the other, and not all or none", torn, allOrNothing],
  ["checks the version of the first change only", unchecked((_, index) => index === 0), stale],
  ["does not compare the version of a new record", unchecked(({ version }) => version > 0), stale],
  ["does not compare the version that it deletes", unchecked(({ value }) => value !== null), stale],
  [
    "leaves a deleted record",
    (adapter) => ({
      ...adapter,
      write: (changes, tx) =>
        adapter.write(
          changes.map((one) => ({ ...one, value: one.value ?? "null" })),
          tx,
        ),
    }),
    read,
  ],
  ["compares keys without case", caseless, order],
  ["keeps the first 255 characters of a key", keepingOf(255), order],
  [
    "returns no more than 200 records",
    (adapter) => ({
      ...adapter,
      scan: (range, tx) => adapter.scan({ ...range, limit: Math.min(range.limit, 200) }, tx),
    }),
    limits,
  ],
  [
    "ends a page at one megabyte",
    (adapter) => ({
      ...adapter,
      async scan(range, tx) {
        let size = 0;
        return (await adapter.scan(range, tx)).filter(({ value }) => (size += value.length) < 1024 * 1024);
      },
    }),
    limits,
  ],
  [
    "includes the end of a range",
    (adapter) => ({ ...adapter, scan: (range, tx) => adapter.scan({ ...range, to: `${range.to} ` }, tx) }),
    order,
  ],
  [
    "leaves out the start of a range",
    (adapter) => ({
      ...adapter,
      scan: (range, tx) => adapter.scan({ ...range, from: `${range.from} ` }, tx),
    }),
    order,
  ],
  [
    "ignores the space at the end of a bound, as ascii_bin does",
    (adapter) => ({
      ...adapter,
      scan: (range, tx) => adapter.scan({ ...range, from: range.from.trimEnd(), to: range.to.trimEnd() }, tx),
    }),
    order,
  ],
  [
    "ignores reverse",
    (adapter) => ({ ...adapter, scan: (range, tx) => adapter.scan({ ...range, reverse: false }, tx) }),
    order,
  ],
  [
    "ignores limit",
    (adapter) => ({ ...adapter, scan: (range, tx) => adapter.scan({ ...range, limit: 1e6 }, tx) }),
    limits,
  ],
  [
    "returns one page of a scan only",
    (adapter) => ({
      ...adapter,
      scan: (range, tx) => adapter.scan({ ...range, limit: Math.min(range.limit, 100) }, tx),
    }),
    limits,
  ],
  ["reads without its transaction", (adapter) => ({ ...adapter, read: (keys) => adapter.read(keys) }), sees],
  [
    "commits where the transaction rejects",
    (adapter, records) => ({
      ...adapter,
      write: (changes) => memoryAdapter(records).write(changes, { id: 0 }),
    }),
    sees,
  ],
  ["writes a payment through its pool", leaky, rollsBack],
];

describe("the exam of a store over an adapter", () => {
  it("passes an adapter that does what it must, and reads records in any order", async () => {
    const reversed: Spoil = (adapter) => ({
      ...adapter,
      read: async (keys, tx) => (await adapter.read(keys, tx)).toReversed(),
    });
    // Conflicts last longer on a busy machine.
    const results = await examOf(reversed, 30_000);
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  });

  it("writes fewer records in one step to a slow database", async () => {
    const now = performance.now.bind(performance);
    let [slowMs, most] = [0, 0];
    jest.spyOn(performance, "now").mockImplementation(() => now() + slowMs);
    const slow: Spoil = (adapter) => ({
      ...adapter,
      write(changes, tx) {
        slowMs += 100 * changes.length;
        most = Math.max(most, changes.length);
        return adapter.write(changes, tx);
      },
    });
    await runCheck(checks.many, storesOver(slow));
    jest.restoreAllMocks();
    expect(most).toBeLessThanOrEqual(100);
  });

  it("does not end leases while it claims slowly", async () => {
    let now = Date.now();
    const slow: Spoil = (adapter) => ({ ...adapter, now: async () => (now += 30_000) });
    const claims = runCheck(
      "a backlog larger than one round is claimed completely, oldest first",
      storesOver(slow),
    );
    await expect(claims).resolves.toBeUndefined();
  });

  it("goes on after a check of the store that fails", async () => {
    const results = await examineStore({
      create: async () => Object.assign(storeOver(memoryAdapter()), { find: async () => undefined }),
    });
    expect(results.some(({ outcome }) => outcome === "failed")).toBe(true);
    expect(results.at(-1)).toMatchObject({ member: "notes" });
  });

  it.each(defects)("fails an adapter that %s", async (_, spoil, caughtBy) => {
    const results = await examOf(spoil);
    const failed = results.find(({ check }) => check === caughtBy)!;
    expect(failed).toMatchObject({ member: "adapter", outcome: "failed" });
    expect(failed.calls).toContainEqual(expect.stringMatching(/^(adapter|another)\.(read|scan|write)\(/));
    // Further checks would say nothing.
    expect(new Set(results.map(({ member }) => member))).toEqual(new Set(["adapter"]));
  });

  it.each([
    [
      "says true and writes nothing",
      (adapter: Adapter) => ({ ...adapter, write: async () => true }),
      "a transaction returns the result of its run, and others see its writes",
    ],
    [
      "ignores versions",
      unchecked(() => false),
      "two transactions that change one payment run one after the other, or as if they did",
    ],
    [
      "compares keys without case",
      caseless,
      "ids that differ in case, accents, normal form or trailing space are different",
    ],
  ])("fails an adapter that %s also by the contract", async (_, spoil, caughtBy) => {
    await expect(runCheck(caughtBy, storesOver(spoil))).rejects.toThrow(`This does not hold: ${caughtBy}.`);
    await runCheck(
      caughtBy,
      storesOver((adapter) => adapter),
    );
  });
});
