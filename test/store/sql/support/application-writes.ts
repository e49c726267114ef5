import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { type StoreProbe } from "tillkit/testing";

/** Returns the exam's probe of a SQLite store: rows of a table of the application, in the same file. */
export function sqliteProbe(store: SqlPaymentStore): StoreProbe<SqlTx> {
  // A table that was made before would mean that no check begins with an empty file.
  const makeTable = (tx: SqlTx) => tx.query("create table if not exists orders (id text primary key)");
  return tableProbe(store, { table: "orders", first: "?", prepare: makeTable });
}

/** Returns the exam's probe of a store: rows of a table with a column `id`, which `prepare` makes or which is there. */
export function tableProbe(
  store: SqlPaymentStore,
  { table, first, prepare }: { table: string; first: "?" | "$1"; prepare?: (tx: SqlTx) => Promise<unknown> },
): StoreProbe<SqlTx> {
  return {
    async write(tx, key) {
      await prepare?.(tx);
      await tx.query(`insert into ${table} (id) values (${first})`, [key]);
    },
    has: (key) =>
      store.transaction(async (tx) => {
        await prepare?.(tx);
        const { rows } = await tx.query(`select id from ${table} where id = ${first}`, [key]);
        return rows.length > 0;
      }),
  };
}
