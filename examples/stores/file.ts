// The teaching example: a store in one plain file, for one process.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { type BatchAdapter, type RecordChange, type StoredRecord } from "tillkit";

/** Keeps all records in memory, and appends each write to a file as one line. */
export function fileAdapter(path: string): BatchAdapter<RecordChange> {
  const records = new Map<string, StoredRecord>();
  const apply = ({ key, version, value }: RecordChange) => {
    if (value === null) records.delete(key);
    else records.set(key, { key, version: version + 1, value });
  };
  // A line without its end was cut off by a crash. It was never answered, and it is left out here.
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  for (const line of lines) for (const change of JSON.parse(line) as RecordChange[]) apply(change);
  // A new file, because an append after half a line would be lost with it.
  let file = openSync(`${path}.new`, "w");
  const append = (changes: readonly RecordChange[]) => {
    if (changes.length > 0) writeSync(file, `${JSON.stringify(changes)}\n`);
    fsyncSync(file);
  };
  append([...records.values()].map(({ key, version, value }) => ({ key, version: version - 1, value })));
  renameSync(`${path}.new`, path);

  return {
    durable: true,
    async read(keys) {
      return keys.flatMap((key) => records.get(key) ?? []);
    },
    async scan({ from, to, limit, reverse }) {
      const found = [...records.values()].filter(({ key }) => key >= from && key < to);
      found.sort((a, b) => (a.key < b.key === reverse ? 1 : -1));
      return found.slice(0, limit);
    },
    async write(changes, items) {
      const isAsExpected = ({ key, version }: RecordChange) => (records.get(key)?.version ?? 0) === version;
      if (!changes.every(isAsExpected)) return false;
      // Nothing is awaited in here, so that no other write comes in between.
      append([...changes, ...items]);
      for (const change of [...changes, ...items]) apply(change);
      return true;
    },
    async close() {
      closeSync(file);
    },
  };
}
