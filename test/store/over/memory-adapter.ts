import { type BatchAdapter, type RecordChange, type StoredRecord, type TransactionAdapter } from "tillkit";

export type Records = Map<string, StoredRecord>;

/** The transaction of {@link memoryAdapter}. */
export interface MemoryTransaction {
  id: number;
}

/** The open transactions of all adapters over one map. */
const openOf = new WeakMap<Records, Map<MemoryTransaction | undefined, Map<string, RecordChange>>>();

/** Returns the version of a record, or 0 if there is no such record. */
export const versionIn = (records: Records, key: string): number => records.get(key)?.version ?? 0;

/** Returns whether a change expects the version that its record has. */
export const expectedIn =
  (records: Records) =>
  ({ key, version }: RecordChange): boolean =>
    versionIn(records, key) === version;

/** Makes the changes without a comparison of versions. */
export function apply(records: Records, changes: Iterable<RecordChange>): void {
  for (const { key, version, value } of changes)
    if (value === null) records.delete(key);
    else records.set(key, { key, value, version: version + 1 });
}

/** Returns an adapter over a map without transactions. Several adapters can share the map. */
export function batchAdapter(records: Records): BatchAdapter<never> {
  return {
    durable: true,
    read: async (keys) => keys.flatMap((key) => records.get(key) ?? []),
    scan: (range) => memoryAdapter(records).scan(range),
    async write(changes) {
      const isDone = changes.every(expectedIn(records));
      if (isDone) apply(records, changes);
      return isDone;
    },
  };
}

/**
 * Returns an adapter over a map. A write is a conflict also where another open transaction has written one of its records. Without an
 * open transaction it is committed immediately.
 */
export function memoryAdapter(
  records: Records = new Map(),
  isExpected = expectedIn(records),
): TransactionAdapter<MemoryTransaction> {
  let transactions = 0;
  const open = openOf.get(records) ?? new Map<MemoryTransaction | undefined, Map<string, RecordChange>>();
  openOf.set(records, open);
  const isTaken = ({ key }: RecordChange) => [...open.values()].some((changes) => changes.has(key));
  const seenBy = (tx?: MemoryTransaction): Records => {
    const changes = open.get(tx);
    if (!changes?.size) return records;
    const seen = new Map(records);
    apply(seen, changes.values());
    return seen;
  };
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
