import { setImmediate as nextIteration } from "node:timers/promises";
import { type BatchAdapter, storeOver, type StoredRecord, TillkitError } from "tillkit";
import { type CheckResult, examineStore } from "tillkit/testing";

/** What a batch adapter does wrong. */
interface Faults {
  /** Returns `false` for an item that the database refuses. */
  refusesSilently?: boolean;
  /** Throws an error without a code for an item that the database refuses. */
  refusesWithoutCode?: boolean;
  /** Makes the writes of the application before it looks at the versions. */
  writesItemsFirst?: boolean;
  /** Keeps the application's rows between the kit's records, with keys that the kit also uses. */
  mixesKeys?: boolean;
  /** Commits the writes that arrive meanwhile as one group, all of which get the error of one. */
  sharesErrors?: boolean;
}

/** Returns an adapter over a map, whose items are keys of the application's own rows. */
function batchAdapter(
  rows: Set<string>,
  { refusesSilently, refusesWithoutCode, writesItemsFirst, mixesKeys, sharesErrors }: Faults,
): BatchAdapter<string> {
  const records = new Map<string, StoredRecord>();
  const adapter: BatchAdapter<string> = {
    durable: true,
    read: async (keys) => keys.flatMap((key) => records.get(key) ?? []),
    scan: async ({ from, to, limit, reverse }) =>
      [...records.values()]
        .filter(({ key }) => key >= from && key < to)
        .toSorted((a, b) => (a.key < b.key === reverse ? 1 : -1))
        .slice(0, limit),
    write: async (changes, items) => {
      if (new Set(items).size < items.length) {
        if (refusesSilently) return false;
        if (refusesWithoutCode) throw new Error("duplicate row");
        throw new TillkitError("store_conflict", "A row is there twice.");
      }
      if (writesItemsFirst) for (const item of items) rows.add(item);
      if (!changes.every(({ key, version }) => (records.get(key)?.version ?? 0) === version)) return false;
      for (const item of items) rows.add(item);
      for (const { key, version, value } of changes)
        if (value === null) records.delete(key);
        else records.set(key, { key, value, version: version + 1 });
      if (mixesKeys)
        for (const key of items.map((item) => `orders/${item}`))
          records.set(key, { key, value: "true", version: 1 });
      return true;
    },
  };
  let group: Promise<boolean>[] = [];
  const grouped: typeof adapter.write = async (...write) => {
    const all = group;
    const result = adapter.write(...write);
    all.push(result);
    result.catch(() => {});
    await nextIteration();
    if (group === all) group = [];
    await Promise.all(all);
    return result;
  };
  return sharesErrors ? { ...adapter, write: grouped } : adapter;
}

function examOf(faults: Faults): Promise<CheckResult[]> {
  return examineStore({
    create: async () => {
      const rows = new Set<string>();
      const store = storeOver(batchAdapter(rows, faults), { busyTimeoutMs: 1500 });
      return {
        store,
        probe: {
          write: (tx, key) => tx.add(key),
          has: async (key) => rows.has(key),
          refused: (tx) => tx.add("twice", "twice"),
        },
      };
    },
  });
}

const failedIn = (results: readonly CheckResult[]) =>
  results.filter(({ outcome }) => outcome === "failed").map(({ check, reason }) => [check, reason]);

describe("the exam of a batch adapter with a probe", () => {
  it("passes the right one", async () => {
    expect(failedIn(await examOf({}))).toEqual([]);
  });

  it("fails one that returns false for a write that its database refuses, and says what to do", async () => {
    expect(failedIn(await examOf({ refusesSilently: true }))).toEqual([
      [
        "a write of the application that the database refuses rejects its transaction, with everything in it",
        expect.stringMatching(
          /^write returned false \d+ times for a write that the database refuses: reject with store_conflict$/,
        ),
      ],
    ]);
  });

  it("fails one whose refused write looks like a failure of the database, and shows its error", async () => {
    expect(failedIn(await examOf({ refusesWithoutCode: true }))).toEqual([
      [
        "a write of the application that the database refuses rejects its transaction, with everything in it",
        expect.stringMatching(
          /^it rejected with store_unavailable \(.*duplicate row.*\): reject with the error/,
        ),
      ],
    ]);
  });

  it("fails one whose items are there although another write was faster", async () => {
    expect(failedIn(await examOf({ writesItemsFirst: true }))).toEqual([
      [
        "of such writes, those of the application commit only with the one that is done",
        expect.stringContaining("although its write returned false"),
      ],
    ]);
  });

  it("fails one whose rows replace records of the kit, and says what to do", async () => {
    expect(failedIn(await examOf({ mixesKeys: true }))).toEqual([
      [
        "a write of the application commits with its transaction",
        expect.stringContaining(" keep your own data in another table or key space. Expected "),
      ],
    ]);
  });

  it("fails one of whose writes all fail with the refused one of their group, and says what to do", async () => {
    expect(failedIn(await examOf({ sharesErrors: true }))).toEqual([
      [
        "after writes of the application that the database refuses, the next transaction commits",
        expect.stringMatching(/^A transaction beside refused ones failed: .* repeat the group without it\.$/),
      ],
    ]);
  });
});

describe("a check in which no call ends", () => {
  it("has failed, says which call hangs, and the exam stops there", async () => {
    const results = await examineStore({
      create: async () => {
        const store = storeOver(batchAdapter(new Set(), {}));
        store.claim = () => new Promise(() => {});
        return store;
      },
      timeoutMs: 300,
    });
    expect(results.at(-1)).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(
        /^No call ended for 0\.3 s\. \d+ calls took \d+ ms in the median, \d+ ms at most; store\.claim\(.*\) has not ended/,
      ) as string,
    });
    expect(results.filter(({ outcome }) => outcome === "failed")).toHaveLength(1);
  });

  it("names the step that hangs behind the calls", async () => {
    const [result] = await examineStore({
      create: async () => storeOver(batchAdapter(new Set(), {})),
      remove: () => new Promise(() => {}),
      timeoutMs: 300,
    });
    expect(result?.reason).toMatch(/ms at most; remove, which is called after close, has not ended\.$/);
  });
});
