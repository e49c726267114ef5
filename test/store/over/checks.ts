import { type StoreFactory, testStore } from "tillkit/testing";

/** Names of checks of the exam. */
export const checks = {
  read: "read returns what exists, also what was committed just before, and nothing else",
  order: "scan returns the keys from `from` up to but not `to`, byte by byte, or in reverse",
  limits: "scan returns no more than `limit` records, and no fewer where there are more",
  stale: "write returns false and writes nothing where any record has another version",
  many: "write makes many changes in one step, all of them or none",
  beside: "beside writes, read and scan return each record as one write left it, and miss none",
  oneDone: "of writes at the same time that share a record, one is done, and nothing of the others is there",
  sees: "read and scan with tx see what its transaction wrote, and nobody else does",
};

/** Runs one check of the exam alone. */
export async function runCheck<Tx>(check: string, stores: StoreFactory<Tx>): Promise<void> {
  const runs = new Map<string, () => Promise<void>>();
  testStore({ ...stores, test: (name, run) => runs.set(name, run) });
  await runs.get(`store: ${check}`)!();
}
