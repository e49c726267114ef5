import { setImmediate as nextIteration } from "node:timers/promises";
import { storeOver, type StoredRecord, type TransactionAdapter } from "tillkit";
import { examineStore } from "tillkit/testing";
import { checks } from "./checks.js";
import { memoryAdapter, type MemoryTransaction } from "./memory-adapter.js";

const { stale, oneDone } = checks;

type Adapter = TransactionAdapter<MemoryTransaction>;
type Records = Map<string, StoredRecord>;
type Spoil = (adapter: Adapter, records: Records) => Adapter;

/** Rejects an insert of a key that exists, as a statement without `on conflict` does. */
const rejectingInserts: Spoil = (adapter, records) => ({
  ...adapter,
  async write(changes, tx) {
    const taken = changes.find(({ key, version }) => version === 0 && records.has(key));
    if (taken) throw new Error(`duplicate key ${taken.key}`);
    return adapter.write(changes, tx);
  },
});

/** Rejects a write whose versions were right before another write was faster. */
const rejectingOvertaken: Spoil = (adapter, records) => ({
  ...adapter,
  async write(changes, tx) {
    if (changes.some(({ key, version }) => (records.get(key)?.version ?? 0) !== version)) return false;
    await nextIteration();
    if (await adapter.write(changes, tx)) return true;
    throw new Error("could not serialize access");
  },
});

/** Compares the versions again at the commit, and rejects if another transaction was faster. */
const rejectingCommit: Spoil = (adapter, records) => {
  const changed = new WeakMap<object, Parameters<Adapter["write"]>[0]>();
  return {
    ...adapter,
    async write(changes, tx) {
      changed.set(tx, changes);
      return changes.every(({ key, version }) => (records.get(key)?.version ?? 0) === version);
    },
    async transaction(run) {
      let own: MemoryTransaction = { id: 0 };
      const result = await adapter.transaction((tx) => {
        own = tx;
        return run(tx);
      });
      await nextIteration();
      const isDone = await memoryAdapter(records).write(changed.get(own) ?? [], own);
      if (!isDone) throw new Error("could not serialize access at the commit");
      return result;
    },
  };
};

/** Rejects, in a database without transactions, if another write was faster. */
const rejectingBatch: Spoil = (adapter, records) => {
  const write: Adapter["write"] = async (changes) => {
    if (changes.some(({ key, version }) => (records.get(key)?.version ?? 0) !== version)) return false;
    await nextIteration();
    if (await memoryAdapter(records).write(changes, { id: 0 })) return true;
    throw new Error("TransactionCanceled");
  };
  return { ...adapter, transaction: undefined, write } as unknown as Adapter;
};

/** Joins another table, which has two rows for a record that was changed. */
const readingTwice: Spoil = (adapter) => ({
  ...adapter,
  async read(keys, tx) {
    return (await adapter.read(keys, tx)).flatMap((one) => (one.version > 1 ? [one, one] : [one]));
  },
});

const returnFalse = "If a record had another version, or if the database has ended the write";

const defects: [does: string, spoil: Spoil, caughtBy: string, says: string][] = [
  ["rejects an insert of a key that exists", rejectingInserts, stale, `duplicate key exam/b. ${returnFalse}`],
  ["rejects a write that was overtaken", rejectingOvertaken, oneDone, `serialize access. ${returnFalse}`],
  [
    "reports a conflict at the commit",
    rejectingCommit,
    oneDone,
    "at the commit. If the database reports a conflict only at the commit, write a BatchAdapter",
  ],
  ["rejects a batch that was overtaken", rejectingBatch, oneDone, `TransactionCanceled. ${returnFalse}`],
  [
    "reads a record twice",
    readingTwice,
    "read returns what exists, also what was committed just before, and nothing else",
    "read returned the record exam/a twice.",
  ],
];

describe("the exam of an adapter that rejects, or reads too much", () => {
  it.each(defects)("fails one that %s, and says what to do", async (_, spoil, caughtBy, says) => {
    const results = await examineStore({
      create: async () => {
        const records: Records = new Map();
        const open = () => storeOver(spoil(memoryAdapter(records), records));
        return { store: open(), reopen: async () => open() };
      },
    });
    const failed = results.filter(({ outcome }) => outcome === "failed");
    expect(failed.find(({ check }) => check === caughtBy)?.reason).toContain(says);
    expect(new Set(failed.map(({ member }) => member))).toEqual(new Set(["adapter"]));
  });
});
