import {
  type RecordChange,
  storeOver,
  type StoredRecord,
  TillkitError,
  type TransactionAdapter,
} from "tillkit";
import { examineStore } from "tillkit/testing";
import { checks } from "./checks.js";
import { apply, memoryAdapter, type MemoryTransaction, type Records, versionIn } from "./memory-adapter.js";

const { order, stale, many, oneDone, beside, sees } = checks;

type Adapter = TransactionAdapter<MemoryTransaction>;
type Spoil = (adapter: Adapter, records: Records) => Adapter;

/** Stores other values. */
function storing(recode: (value: string) => string): Spoil {
  const recoded = (change: RecordChange): RecordChange =>
    change.value === null ? change : { ...change, value: recode(change.value) };
  return (adapter) => ({ ...adapter, write: (changes, tx) => adapter.write(changes.map(recoded), tx) });
}

/** Reads the records with the changes that the transaction has not committed yet. */
function readingOwn(
  records: ReadonlyMap<string, StoredRecord>,
  changesOf: (tx: object) => readonly RecordChange[] | undefined,
): Pick<Adapter, "durable" | "read" | "scan"> {
  const seenBy = (tx: object = {}): Adapter => {
    const seen = new Map(records);
    apply(seen, changesOf(tx) ?? []);
    return memoryAdapter(seen);
  };
  return {
    durable: true,
    read: (keys, tx) => seenBy(tx).read(keys),
    scan: (range, tx) => seenBy(tx).scan(range),
  };
}

/** Compares all versions with a select, and then fewer in the statements that write. */
function comparingAgain(isDone: (version: number, change: RecordChange) => boolean): Spoil {
  return (_, records) => {
    const written = new WeakMap<object, readonly RecordChange[]>();
    return {
      ...readingOwn(records, (tx) => written.get(tx)),
      async transaction(run) {
        const tx = { id: 1 };
        const result = await run(tx);
        apply(records, written.get(tx) ?? []);
        return result;
      },
      async write(changes, tx) {
        if (changes.some(({ key, version }) => versionIn(records, key) !== version)) return false;
        await new Promise(setImmediate);
        if (!changes.every((change) => isDone(versionIn(records, change.key), change))) return false;
        written.set(tx, changes);
        return true;
      },
    };
  };
}

/** Compares versions in this way. */
function comparing(isDone: (version: number, change: RecordChange) => boolean): Spoil {
  return (adapter, records) => ({
    ...adapter,
    write: (changes, tx) =>
      memoryAdapter(records, (change) => isDone(versionIn(records, change.key), change)).write(changes, tx),
  });
}

/** Writes in steps of 50, where there are more changes. */
const inSteps: Spoil = (adapter, records) => ({
  ...adapter,
  write: async (changes, tx) => {
    if (changes.length <= 50) return adapter.write(changes, tx);
    for (let at = 0; at < changes.length; at += 50) {
      const some = changes.slice(at, at + 50);
      if (some.some(({ key, version }) => versionIn(records, key) !== version)) return false;
      apply(records, some);
    }
    return true;
  },
});

/** Deletes what it can where nothing else is written. */
const deletingAnyway: Spoil = (adapter, records) => ({
  ...adapter,
  write: async (changes, tx) => {
    if (changes.some(({ value }) => value !== null)) return adapter.write(changes, tx);
    return adapter.write(
      changes.filter(({ key, version }) => versionIn(records, key) === version),
      tx,
    );
  },
});

/** Never gives back the connection of a transaction that rejects. */
const leaking: Spoil = (adapter) => {
  let free = 20;
  return {
    ...adapter,
    async transaction(run) {
      if (free === 0) await new Promise(() => {});
      free -= 1;
      const result = await adapter.transaction(run);
      free += 1;
      return result;
    },
  };
};

const countingDeleted: Spoil = (adapter) => {
  const deleted = new Set<string>();
  return {
    ...adapter,
    write: (changes, tx) => {
      for (const { key, value } of changes) if (value === null) deleted.add(key);
      return adapter.write(changes, tx);
    },
    scan: async (range, tx) => {
      const hidden = [...deleted].filter((key) => key >= range.from && key < range.to).length;
      return (await adapter.scan(range, tx)).slice(0, Math.max(0, range.limit - hidden));
    },
  };
};

/** Where a transaction read something, it reads the same again. */
const snapshot: Spoil = (adapter) => {
  const seen = new WeakMap<object, Map<string, readonly StoredRecord[]>>();
  return {
    ...adapter,
    async read(keys, tx) {
      if (tx === undefined) return adapter.read(keys);
      const known = seen.get(tx) ?? new Map<string, readonly StoredRecord[]>();
      seen.set(tx, known);
      const found = known.get(keys.join()) ?? (await adapter.read(keys, tx));
      known.set(keys.join(), found);
      return found;
    },
  };
};

/** Begins on one connection for all: what a transaction does inside of another one ends with that. */
const nested: Spoil = (_, records) => {
  let [open, view] = [0, records];
  return {
    durable: true,
    read: (keys, tx) => memoryAdapter(tx ? view : records).read(keys),
    scan: (range, tx) => memoryAdapter(tx ? view : records).scan(range),
    async transaction(run) {
      if (open++ === 0) view = new Map(records);
      try {
        const result = await run({ id: Math.random() });
        for (const key of new Set([...records.keys(), ...view.keys()]))
          if (view.has(key)) records.set(key, view.get(key)!);
          else records.delete(key);
        return result;
      } catch (error) {
        view = new Map(records);
        throw error;
      } finally {
        open -= 1;
      }
    },
    write: async (changes) => {
      if (changes.some(({ key, version }) => versionIn(view, key) !== version)) return false;
      apply(view, changes);
      return true;
    },
  };
};

/** Locks records one by one. Rejects where two transactions wait for each other. */
const deadlocked: Spoil = (adapter, records) => {
  const locks = lockedIn.get(records) ?? { holders: new Map(), waiting: new Map() };
  lockedIn.set(records, locks);
  const { holders, waiting } = locks;
  const waitsFor = (tx: object | undefined, other: object): boolean =>
    tx !== undefined && (tx === other || waitsFor(holders.get(waiting.get(tx) ?? ""), other));
  return {
    ...adapter,
    async transaction(run) {
      let own: object = {};
      try {
        return await adapter.transaction((tx) => {
          own = tx;
          return run(tx);
        });
      } finally {
        for (const [key, tx] of holders) if (tx === own) holders.delete(key);
      }
    },
    async write(changes, tx) {
      for (const { key } of changes) {
        for (; holders.has(key); await new Promise(setImmediate)) {
          if (waitsFor(holders.get(key), tx)) throw new Error("deadlock detected");
          waiting.set(tx, key);
        }
        waiting.delete(tx);
        holders.set(key, tx);
      }
      return adapter.write(changes, tx);
    },
  };
};
/** The transactions that have locked a record, by its key, and the keys for which transactions wait. */
const lockedIn = new WeakMap<Records, { holders: Map<string, object>; waiting: Map<object, string> }>();

/** Reads two columns one after the other. */
const torn =
  (isVersionFirst: boolean): Spoil =>
  (adapter) => ({
    ...adapter,
    async read(keys, tx) {
      const first = await adapter.read(keys, tx);
      await new Promise(setImmediate);
      const then = await adapter.read(keys, tx);
      return then.map((record) => {
        const { value, version } = first.find(({ key }) => key === record.key) ?? record;
        return { ...record, ...(isVersionFirst ? { version } : { value }) };
      });
    },
  });

/** Reads a scan in two pages by their number, while a write moves the records. */
const numberedPages: Spoil = (adapter, records) => ({
  ...adapter,
  async scan(range, tx) {
    if (tx || range.reverse || range.limit < 20) return adapter.scan(range, tx);
    const page = await adapter.scan({ ...range, limit: 20 });
    await new Promise(setImmediate);
    const rest = (await adapter.scan({ ...range, limit: records.size + 1 })).slice(page.length);
    return [...page, ...rest].slice(0, range.limit);
  },
});

/** Compares the values that it has read, and only where it has read none the versions. */
const comparingValues: Spoil = (_, records) => {
  const seen = new Map<string, string>();
  const adapter = memoryAdapter(records, ({ key, version }) => {
    const value = seen.get(`${key} ${version}`);
    return value === undefined ? versionIn(records, key) === version : records.get(key)?.value === value;
  });
  return {
    ...adapter,
    async read(keys, tx) {
      const found = await adapter.read(keys, tx);
      for (const { key, version, value } of found) seen.set(`${key} ${version}`, value);
      return found;
    },
  };
};

/** Deletes also what another write has changed, a little later. */
const deletingLater: Spoil = (adapter, records) => ({
  ...adapter,
  async write(changes, tx) {
    const isDone = await adapter.write(changes, tx);
    for (const { key, value: next } of isDone ? [] : changes)
      if (next === null) setTimeout(() => records.delete(key), 20);
    return isDone;
  },
});

/** A lock: the end of the last transaction that took it. */
interface Lock {
  ended: Promise<unknown>;
}

/** Compares versions under a lock, and holds it until the end. `begin` starts a transaction and returns what commits its changes. */
function underLock(
  records: Records,
  lock: Lock,
  begin: () => (changes: readonly RecordChange[]) => unknown,
): Adapter {
  const own = new WeakMap<object, { changes?: readonly RecordChange[]; unlock?: () => void }>();
  return {
    ...readingOwn(records, (tx) => own.get(tx)?.changes),
    async transaction(run) {
      const tx = { id: 1 };
      const state: ReturnType<typeof own.get> = {};
      own.set(tx, state);
      const commit = begin();
      try {
        const result = await run(tx);
        if (state.changes) await commit(state.changes);
        return result;
      } finally {
        state.unlock?.();
      }
    },
    async write(changes, tx) {
      const before = lock.ended;
      lock.ended = new Promise<void>((resolve) => (own.get(tx)!.unlock = resolve));
      await before;
      if (changes.some(({ key, version }) => versionIn(records, key) !== version)) return false;
      own.get(tx)!.changes = changes;
      return true;
    },
  };
}

/** Reads a file at the begin of a transaction, and writes all of it at the end. Compares versions under a lock in between. */
const wholeFile: Spoil = (_, records) =>
  underLock(records, { ended: Promise.resolve() }, () => {
    const file = new Map(records);
    return (changes) => {
      apply(file, changes);
      records.clear();
      for (const [key, record] of file) records.set(key, record);
    };
  });

/** Compares all versions under a lock of all processes, and then writes one record after the other. */
const lockedSteps: Spoil = (_, records) => {
  const lock = lockOf.get(records) ?? { ended: Promise.resolve() };
  lockOf.set(records, lock);
  return underLock(records, lock, () => async (changes) => {
    for (const change of changes) {
      await new Promise(setImmediate);
      apply(records, [change]);
    }
  });
};
const lockOf = new WeakMap<Records, Lock>();

/** Gives the object of a transaction that has ended to the next one. */
const reusing: Spoil = (adapter) => {
  const free: MemoryTransaction[] = [];
  const inner = new WeakMap<MemoryTransaction, MemoryTransaction>();
  const innerOf = (tx: MemoryTransaction | undefined) => tx && inner.get(tx);
  return {
    ...adapter,
    read: (keys, tx) => adapter.read(keys, innerOf(tx)),
    scan: (range, tx) => adapter.scan(range, innerOf(tx)),
    write: (changes, tx) => adapter.write(changes, innerOf(tx)!),
    transaction: (run) =>
      adapter.transaction((newest) => {
        const tx = free.pop() ?? { id: 0 };
        inner.set(tx, newest);
        return run(tx).finally(() => free.push(tx));
      }),
  };
};

const value = "read and scan return a value as the text that was written, also one that was written again";
const clock = "now returns the database's clock in milliseconds, anew in each call";

const defects: [does: string, spoil: Spoil, caughtBy: string, says: string][] = [
  ["cuts values at 64 kB", storing((text) => text.slice(0, 65_535)), value, "Expected …"],
  ["changes the normal form of values", storing((text) => text.normalize()), value, "became one of"],
  ["leaves out null", storing((text) => text.replaceAll("null,", "")), value, "became one of"],
  [
    "keeps whole numbers in 64 bits",
    storing((text) => text.replaceAll(String(1e19), String(2n ** 63n - 1n))),
    value,
    "became one of",
  ],
  ["keeps empty strings as null", storing((text) => text.replaceAll('""', "null")), value, "became one of"],
  [
    "skips a change to the value that is there",
    (adapter, records) => ({
      ...adapter,
      write: (changes, tx) =>
        adapter.write(
          changes.filter(({ key, value: next, version }) => {
            const stored = records.get(key);
            return stored?.version !== version || stored.value !== next;
          }),
          tx,
        ),
    }),
    value,
    "Each change adds 1, also a change to an equal value",
  ],
  [
    "reads keys as patterns",
    (adapter, records) => ({
      ...adapter,
      read: async (keys, tx) => {
        const patterns = keys.map((key) => new RegExp(`^${key.replaceAll("_", ".")}$`));
        const all = await adapter.scan({ from: "", to: "~", limit: records.size, reverse: false }, tx);
        return all.filter(({ key }) => patterns.some((pattern) => pattern.test(key)));
      },
    }),
    order,
    'Expected ["exam/a_ 1 \\"1\\""], and got ["exam/a! 1',
  ],
  [
    "has a clock in seconds",
    withNow(() => Date.now() / 1000),
    clock,
    ": return milliseconds, anew in each call",
  ],
  ["has a clock in microseconds", withNow(() => Date.now() * 1000), clock, "return milliseconds"],
  ["has a clock in local time", withNow(() => Date.now() + 10_800_000), clock, "is 180 minutes away"],
  ["writes in several steps", inSteps, many, "1000 changes were written in several steps"],
  ["counts deleted records", countingDeleted, many, "Records that were deleted count in `limit`."],
  [
    "returns false for any failure",
    (adapter) => ({ ...adapter, write: async (all, tx) => all.length < 300 && adapter.write(all, tx) }),
    many,
    "write returned false, and every version was the expected one.",
  ],
  [
    "deletes newer versions",
    comparing((version, change) => version === change.version || (version > 0 && change.value === null)),
    stale,
    "write returned true for",
  ],
  [
    "keeps the connections of transactions that reject",
    leaking,
    "transactions that reject or return false give back what they hold: a connection, a lock",
    "adapter.transaction(…) has not ended",
  ],
  [
    "deletes what a select has compared",
    comparingAgain((version, change) => version === change.version || change.value === null),
    oneDone,
    "4 of four writes were done that expected version 1 of one record (delete).",
  ],
  [
    "inserts again what was deleted since a select",
    comparingAgain(
      (version, change) => version === change.version || (version === 0 && change.value !== null),
    ),
    oneDone,
    "2 of four writes were done that expected version 1 of one record (update and delete).",
  ],
  [
    "rejects in a deadlock",
    deadlocked,
    "write returns false where the database ends one of two that wait for each other",
    "deadlock detected. If a record had another version, or if the database has ended the write in favour of another one (a deadlock), return false.",
  ],
  [
    "scans what is not committed",
    (adapter, records) => {
      const all = new Map(records);
      return {
        ...adapter,
        write: async (changes, tx) => {
          const isDone = await adapter.write(changes, tx);
          if (isDone) apply(all, changes);
          return isDone;
        },
        scan: (range) => memoryAdapter(all).scan(range),
      };
    },
    sees,
    "Without tx, a change was seen that was not committed.",
  ],
  [
    "swallows what a run rejects with",
    (adapter) => ({
      ...adapter,
      transaction: (run) => adapter.transaction(run).catch(() => undefined as never),
    }),
    sees,
    "The transaction resolved although its run had rejected.",
  ],
  [
    "reads from a snapshot",
    snapshot,
    "with tx, read and scan return what others have committed since its transaction began",
    "With tx, an old snapshot was read",
  ],
  [
    "has one connection for all transactions",
    nested,
    "of two open transactions one rolls back alone, and the other commits alone",
    "A transaction took part in another one",
  ],
  [
    "runs a transaction twice",
    (adapter) => ({
      ...adapter,
      transaction: (run) => adapter.transaction(run).then(() => adapter.transaction(run)),
    }),
    value,
    "write returned false, and every version was the expected one. Runs: 2.",
  ],
  [
    "reads the version before the value",
    torn(true),
    beside,
    "Get the value and the version from one statement.",
  ],
  [
    "reads the value before the version",
    torn(false),
    beside,
    "Get the value and the version from one statement.",
  ],
  [
    "writes one record after the other under a lock",
    lockedSteps,
    beside,
    "Make all changes of a write in one step of the database",
  ],
  [
    "reads pages by their number",
    numberedPages,
    beside,
    "records that were there all the time, while others in its range were written",
  ],
  [
    "has a small column of versions",
    (adapter) => ({
      ...adapter,
      async write(changes, tx) {
        return (await adapter.write(changes, tx)) && !changes.some(({ version }) => version >= 255);
      },
    }),
    beside,
    "exam/l1 was written with version 255",
  ],
  [
    "writes back a file that it has read before",
    wholeFile,
    "writes at the same time that share no record are all done, and all of them are there",
    "A write returned true, and another write, of other records, has undone it.",
  ],
  [
    "runs again what rejects",
    (adapter) => ({
      ...adapter,
      transaction: (run) => adapter.transaction(run).catch(() => adapter.transaction(run)),
    }),
    "transactions that reject or return false give back what they hold: a connection, a lock",
    "What rejected with an error of its own was run again",
  ],
  [
    "uses the object of a transaction again",
    reusing,
    "of two open transactions one rolls back alone, and the other commits alone",
    "Two transactions got one object as their tx",
  ],
  ["compares values", comparingValues, stale, 'write returned true for {"key":"exam/b","version":1'],
  [
    "deletes later what another write has changed",
    deletingLater,
    oneDone,
    "A write had an effect after its answer.",
  ],
  [
    "returns true where only deletions conflict, of a commit that only deletes",
    deletingAnyway,
    "write returns false and writes nothing where any record has another version",
    "write returned true for deletions alone, of which exam/b has another version",
  ],
];

function withNow(now: () => number): Spoil {
  return (adapter) => ({ ...adapter, now: async () => now() });
}

describe("the exam of an adapter with a subtle mistake", () => {
  it.each(defects)("fails one that %s, and names it", async (_, spoil, caughtBy, says) => {
    const results = await examineStore({
      create: async () => {
        const records: Records = new Map();
        return storeOver(spoil(memoryAdapter(records), records), { busyTimeoutMs: 500 });
      },
      timeoutMs: 1500,
    });
    const failed = results.filter(({ outcome }) => outcome === "failed");
    const { reason } = failed.find(({ check }) => check === caughtBy)!;
    expect(reason).toContain(says);
    expect(new Set(failed.map(({ member }) => member))).toEqual(new Set(["adapter"]));
  });

  it("fails one of whose writes one hangs while others read, and stops there", async () => {
    const now = performance.now.bind(performance);
    let laterMs = 0;
    jest.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
    const records: Records = new Map();
    const adapter = memoryAdapter(records);
    const isHanging = ({ key }: RecordChange): boolean => key.startsWith("exam/r");
    const results = await examineStore({
      create: async () => {
        records.clear();
        const write: Adapter["write"] = (changes, tx) =>
          changes.some(isHanging) ? new Promise(() => {}) : adapter.write(changes, tx);
        const scan: Adapter["scan"] = (range, tx) => {
          if (range.from.startsWith("exam/r")) laterMs += 1000;
          return adapter.scan(range, tx);
        };
        return storeOver({ ...adapter, write, scan });
      },
      timeoutMs: 1500,
    });
    jest.restoreAllMocks();
    expect(results.at(-1)).toMatchObject({
      check: "beside writes that conflict, read and scan return nothing of a write that then returns false",
      reason: expect.stringMatching(/^No call ended for 1\.5 s\. .*transaction\(.*has not ended/) as string,
    });
  });

  it("fails one whose write returns false on a lost connection, and names it", async () => {
    const lost = new WeakSet<object>();
    const adapter = memoryAdapter();
    const write: Adapter["write"] = async (changes, tx) => !lost.has(tx) && adapter.write(changes, tx);
    const results = await examineStore<object>({
      create: async () => storeOver({ ...adapter, write }),
      probe: { write: () => {}, has: async () => true, cut: (tx) => void lost.add(tx) },
    });
    const check = "write returns false only for a conflict, and rejects where its connection is lost";
    expect(results.find((one) => one.check === check)).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(/^write returned false on a lost connection: throw its error/) as string,
    });
  });

  /** Examines an adapter that also writes rows of the application. Returns the failed checks. */
  async function examineRows({ late, lost }: { late: "refused" | "made"; lost: Error }) {
    const rows = new Set<string>();
    const open = new Map<object, string[]>();
    const cut = new WeakSet<object>();
    const write = (tx: object, key: string): void => {
      if (cut.has(tx)) throw lost;
      if (!open.has(tx) && late === "refused") throw new Error("This transaction has ended.");
      if (open.has(tx)) open.get(tx)!.push(key);
      else rows.add(key);
    };
    const create = async () => {
      const adapter = memoryAdapter();
      const transaction: Adapter["transaction"] = (run) =>
        adapter.transaction(async (tx) => {
          open.set(tx, []);
          try {
            const result = await run(tx);
            for (const key of open.get(tx)!) rows.add(key);
            return result;
          } finally {
            open.delete(tx);
          }
        });
      const write: Adapter["write"] = async (changes, tx) => {
        if (cut.has(tx)) throw lost;
        return adapter.write(changes, tx);
      };
      return storeOver({ ...adapter, transaction, write });
    };
    const probe = { write, has: async (key: string) => rows.has(key), cut: (tx: object) => void cut.add(tx) };
    const results = await examineStore<object>({ create, probe });
    return results.filter(({ outcome }) => outcome === "failed");
  }

  const unavailable = new TillkitError("store_unavailable", "Connection terminated");

  it("fails one whose tx can still be used after its end, and names it", async () => {
    const failed = await examineRows({ late: "made", lost: unavailable });
    expect(failed).toMatchObject([
      {
        check: "a write of the application after the end of its transaction is not made",
        reason: expect.stringContaining("refuse every statement of `tx` when `transaction` ends") as string,
      },
    ]);
  });

  it("fails one whose lost connections give no error store_unavailable, and names it", async () => {
    const failed = await examineRows({ late: "refused", lost: new Error("Connection terminated") });
    expect(failed).toMatchObject([
      {
        check: "a transaction whose connection is lost rejects, leaves nothing, and others go on",
        reason: expect.stringMatching(
          /must reject with a TillkitError store_unavailable, .*: Connection terminated\.$/,
        ) as string,
      },
    ]);
  });

  it("passes one that refuses late writes, and whose lost connections give this error", async () => {
    expect(await examineRows({ late: "refused", lost: unavailable })).toEqual([]);
  });
});
