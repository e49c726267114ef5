import { setImmediate as nextIteration } from "node:timers/promises";
import {
  type BatchAdapter,
  storeOver,
  type StoredRecord,
  TillkitError,
  type TransactionAdapter,
} from "tillkit";
import { examineStore, type StoreFactory } from "tillkit/testing";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

/** Returns a batch adapter over these records, and over keys of the application's own rows. */
type Make = (records: Map<string, StoredRecord>, rows: Set<string>) => BatchAdapter<string>;

const over: Make = (records, rows) => {
  const memory = memoryAdapter(records);
  return {
    durable: true,
    read: (keys) => memory.read(keys),
    scan: (range) => memory.scan(range),
    async write(changes, items) {
      if (items.includes("refused")) throw new TillkitError("store_conflict", "The row is refused.");
      const isDone = await memory.write(changes, { id: 0 });
      if (isDone) for (const item of items) rows.add(item);
      return isDone;
    },
  };
};

/** Writes under a lock. Does not release the lock if a write rejects. */
const keepingLock: Make = (records, rows) => {
  let free = Promise.resolve();
  return {
    ...over(records, rows),
    async write(changes, items) {
      const before = free;
      let unlock = () => {};
      free = new Promise((resolve) => (unlock = resolve));
      await before;
      const isDone = await over(records, rows).write(changes, items);
      unlock();
      return isDone;
    },
  };
};

/** Appends each write to a queue, which ends with the first write that rejects. */
const endingQueue: Make = (records, rows) => {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...over(records, rows),
    write(changes, items) {
      const own = last.then(() => over(records, rows).write(changes, items));
      last = own;
      return own;
    },
  };
};

/** Makes the application's writes in their own step, before or after the changes of records, under a lock. */
function inTwoSteps(isBefore: boolean): Make {
  return (records, rows) => {
    const pause = async (): Promise<void> => {
      for (let count = 0; count < 20; count++) await nextIteration();
    };
    let last: Promise<unknown> = Promise.resolve();
    const write: BatchAdapter<string>["write"] = async (changes, items) => {
      if (changes.some(({ key, version }) => (records.get(key)?.version ?? 0) !== version)) return false;
      const [first, second] = isBefore ? [[], changes] : [changes, []];
      await over(records, rows).write(first, isBefore ? items : []);
      if (items.length > 0) await pause();
      return over(records, rows).write(second, isBefore ? [] : items);
    };
    return {
      ...over(records, rows),
      write(changes, items) {
        const own = last.then(() => write(changes, items));
        last = own.catch(() => {});
        return own;
      },
    };
  };
}

async function failuresOf<Tx>(create: StoreFactory<Tx>["create"]) {
  const results = await examineStore({ create, timeoutMs: 1500 });
  return results.filter(({ outcome }) => outcome === "failed");
}

const refused = "after writes of the application that the database refuses, the next transaction commits";
const inOneStep = "a write of the application appears in one step with the changes of its transaction";

const defects: [does: string, make: Make, caughtBy: string, says: string][] = [
  [
    "keeps its lock after a refused write",
    keepingLock,
    refused,
    "It may wait for a connection or a lock that an earlier call has not released.",
  ],
  [
    "gives the error of a refused write to all later writes",
    endingQueue,
    refused,
    "The next transaction failed: The row is refused. A refused write must release its connection and its lock",
  ],
  [
    "makes the application's writes after the changes",
    inTwoSteps(false),
    inOneStep,
    "a change was read, and not yet the write of the application",
  ],
  [
    "makes the application's writes before the changes",
    inTwoSteps(true),
    inOneStep,
    "a write of the application was read, and not yet the changes",
  ],
];

describe("the exam of an adapter with a queue or several steps", () => {
  it.each(defects)("fails one that %s, and names it", async (_, make, caughtBy, says) => {
    const failed = await failuresOf(async () => {
      const rows = new Set<string>();
      const store = storeOver(make(new Map(), rows), { busyTimeoutMs: 30_000 });
      type Tx = Parameters<Parameters<typeof store.transaction>[0]>[0];
      const write = (tx: Tx, key: string) => tx.add(key);
      return {
        store,
        probe: { write, has: async (key) => rows.has(key), refused: (tx: Tx) => tx.add("refused") },
      };
    });
    expect(failed.find(({ check }) => check === caughtBy)?.reason).toContain(says);
  });

  it("fails one whose write hangs while others read, and stops there", async () => {
    const now = performance.now.bind(performance);
    let laterMs = 0;
    jest.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
    const results = await examineStore({
      create: async () => {
        const [records, rows] = [new Map(), new Set<string>()];
        // The number of times that each key was asked for. Only the readers ask so often before a write.
        const asked = new Map<string, number>();
        const isBesideReads = (key: string): boolean => (asked.get(key) ?? 0) > 2;
        const adapter = over(records, rows);
        const write: typeof adapter.write = async (changes, items) => {
          for (let count = 0; count < 20 && items.length > 0; count++) await nextIteration();
          return items.some(isBesideReads) ? new Promise(() => {}) : adapter.write(changes, items);
        };
        const store = storeOver({ ...adapter, write });
        const has = async (key: string): Promise<boolean> => {
          if (isBesideReads(key)) laterMs += 1000;
          asked.set(key, (asked.get(key) ?? 0) + 1);
          return rows.has(key);
        };
        return {
          store,
          probe: { write: (tx: { add(item: string): void }, key: string) => tx.add(key), has },
        };
      },
      timeoutMs: 1500,
    });
    jest.restoreAllMocks();
    expect(results.at(-1)).toMatchObject({
      check: inOneStep,
      reason: expect.stringMatching(/^No call ended for 1\.5 s\. .*transaction\(.*has not ended/) as string,
    });
  });

  it("fails one whose only connection has a transaction already, and names it", async () => {
    const failed = await failuresOf(async () => {
      const adapter = memoryAdapter();
      let isOpen = false;
      const transaction: TransactionAdapter<MemoryTransaction>["transaction"] = async (run) => {
        if (isOpen) throw new Error("cannot start a transaction within a transaction");
        isOpen = true;
        return adapter.transaction(run).finally(() => (isOpen = false));
      };
      return storeOver({ ...adapter, transaction });
    });
    const check = "writes at the same time that share no record are all done, and all of them are there";
    expect(failed.find((one) => one.check === check)?.reason).toContain(
      "within a transaction. Each transaction needs its own connection, or waits until others have ended.",
    );
  });
});
