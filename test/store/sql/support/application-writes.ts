import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { type StoreProbe } from "tillkit/testing";

/** Returns the exam's probe of a SQLite store: rows of a table of the application, in the same file. */
export function sqliteProbe(store: SqlPaymentStore): StoreProbe<SqlTx> {
  // A table that was made before would mean that no check begins with an empty file.
  const makeTable = (tx: SqlTx) => tx.query("create table if not exists orders (id text primary key)");
  return tableProbe(store, { table: "orders", first: "?", prepare: makeTable });
}

interface ProbeOptions {
  table: string;
  first: "?" | "$1";
  prepare?: (tx: SqlTx) => Promise<unknown>;
  /** The statement that ends the connection on which it runs. */
  cut?: string;
}

/** Returns the exam's probe of a store: rows of a table with a column `id`, which `prepare` makes or which is there. */
export function tableProbe(
  store: SqlPaymentStore,
  { table, first, prepare, cut }: ProbeOptions,
): StoreProbe<SqlTx> {
  async function write(tx: SqlTx, key: string): Promise<void> {
    await prepare?.(tx);
    await tx.query(`insert into ${table} (id) values (${first})`, [key]);
  }
  return {
    write,
    async refused(tx) {
      await write(tx, "twice");
      await write(tx, "twice");
    },
    ...(cut !== undefined && { cut: (tx: SqlTx) => tx.query(cut).catch(() => undefined) }),
    has: (key) =>
      store.transaction(async (tx) => {
        await prepare?.(tx);
        const { rows } = await tx.query(`select id from ${table} where id = ${first}`, [key]);
        return rows.length > 0;
      }),
  };
}
