import { setImmediate as nextIteration } from "node:timers/promises";
import { type SqliteDatabase, type SqlPaymentStore } from "tillkit/sql";

/** Gives unused pages of a SQLite file back, in short transactions, where `auto_vacuum` is incremental. */
export async function freePages(store: SqlPaymentStore<SqliteDatabase>): Promise<void> {
  const freeSome = () =>
    store.transaction(async (tx) => {
      const database = await tx.raw;
      database.exec("pragma incremental_vacuum(200)");
      const [row] = database.prepare("pragma freelist_count").all();
      return (row as { freelist_count: number }).freelist_count;
    });
  while ((await freeSome()) > 0) await nextIteration();
}
