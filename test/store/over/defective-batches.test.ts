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
}

/** Returns an adapter over a map, whose items are keys of the application's own rows. */
function batchAdapter(
  rows: Set<string>,
  { refusesSilently, refusesWithoutCode, writesItemsFirst }: Faults,
): BatchAdapter<string> {
  const records = new Map<string, StoredRecord>();
  return {
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
      return true;
    },
  };
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
