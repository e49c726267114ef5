import { type RecordChange, type StoredRecord, type TransactionAdapter } from "tillkit";

/** The transaction of {@link memoryAdapter}. */
export interface MemoryTransaction {
  id: number;
}

/** The open transactions of all adapters over one map. */
const openOf = new WeakMap<
  Map<string, StoredRecord>,
  Map<MemoryTransaction | undefined, Map<string, RecordChange>>
>();

/**
 * Returns an adapter over a map. A write is a conflict also where another open transaction has written one of its records. Without an
 * open transaction it is committed immediately.
 */
export function memoryAdapter(
  records = new Map<string, StoredRecord>(),
  isExpected = ({ key, version }: RecordChange): boolean => (records.get(key)?.version ?? 0) === version,
): TransactionAdapter<MemoryTransaction> {
  let transactions = 0;
  const open = openOf.get(records) ?? new Map<MemoryTransaction | undefined, Map<string, RecordChange>>();
  openOf.set(records, open);
  const isTaken = ({ key }: RecordChange) => [...open.values()].some((changes) => changes.has(key));
  const apply = (to: Map<string, StoredRecord>, changes: Iterable<RecordChange> = []) => {
    for (const { key, version, value } of changes)
      if (value === null) to.delete(key);
      else to.set(key, { key, version: version + 1, value });
    return to;
  };
  const seenBy = (tx?: MemoryTransaction) =>
    open.get(tx)?.size ? apply(new Map(records), open.get(tx)!.values()) : records;
  return {
    durable: false,
    read: async (keys, tx) => keys.flatMap((key) => seenBy(tx).get(key) ?? []),
    scan: async ({ from, to, limit, reverse }, tx) => {
      const found = [...seenBy(tx).values()].filter(({ key }) => key >= from && key < to);
      found.sort((a, b) => (a.key < b.key === reverse ? 1 : -1));
      return found.slice(0, limit);
    },
    async transaction(run) {
      const tx = { id: ++transactions };
      open.set(tx, new Map());
      try {
        const result = await run(tx);
        apply(records, open.get(tx)!.values());
        return result;
      } finally {
        open.delete(tx);
      }
    },
    write: async (changes, tx) => {
      if (!changes.every(isExpected) || changes.some(isTaken)) return false;
      const own = open.get(tx);
      if (own) for (const change of changes) own.set(change.key, change);
      else apply(records, changes);
      return true;
    },
  };
}
