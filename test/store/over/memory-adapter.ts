import { type RecordChange, type StoredRecord, type TransactionAdapter } from "tillkit";

/** The transaction of {@link memoryAdapter}. */
export interface MemoryTransaction {
  id: number;
}

/** Returns an adapter over a map. Nothing is awaited between the check of the versions and the writes. */
export function memoryAdapter(
  records = new Map<string, StoredRecord>(),
  isExpected = ({ key, version }: RecordChange): boolean => (records.get(key)?.version ?? 0) === version,
): TransactionAdapter<MemoryTransaction> {
  let transactions = 0;
  return {
    durable: false,
    read: async (keys) => keys.flatMap((key) => records.get(key) ?? []),
    scan: async ({ from, to, limit, reverse }) => {
      const found = [...records.values()].filter(({ key }) => key >= from && key < to);
      found.sort((a, b) => (a.key < b.key === reverse ? 1 : -1));
      return found.slice(0, limit);
    },
    transaction: (run) => run({ id: ++transactions }),
    write: async (changes) => {
      if (!changes.every(isExpected)) return false;
      for (const { key, version, value } of changes)
        if (value === null) records.delete(key);
        else records.set(key, { key, version: version + 1, value });
      return true;
    },
  };
}
