// A store over one table of your own MySQL or MariaDB, through mysql2, which returns binary columns as bytes. Add the table with a migration:
//   create table payment_records (id varbinary(500) primary key, version int not null, value longtext character set utf8mb4 not null);
import { type Pool, type QueryError, type QueryResult, type ResultSetHeader } from "mysql2/promise";
import { type StoredRecord, TillkitError, type TransactionAdapter } from "tillkit";

/** The handler's `tx`: `await tx.query("update orders set paid = 1 where id = ?", [payment.reference])`. */
export type MysqlTx = { query(sql: string, params?: unknown[]): Promise<[QueryResult, unknown]> };

const insert = "insert into payment_records (value, id, version) values (?, ?, ? + 1)";
const update = "update payment_records set value = ?, version = version + 1 where id = ? and version = ?";
const remove = "delete from payment_records where ? is null and id = ? and version = ?";

// MySQL and MariaDB have different names for the isolation level.
const modes =
  "show variables where variable_name in ('sql_mode', 'autocommit', 'tx_isolation', 'transaction_isolation')";

// A duplicate key: another transaction was first to insert this record. A deadlock: MySQL has rolled this one back.
const conflictOf = (cause: QueryError) =>
  cause.errno === 1062 || cause.errno === 1213 ? [{}] : Promise.reject(cause);
// A lost connection does not count as the failure of a handler.
const fail = (cause: QueryError) =>
  Promise.reject(cause.fatal ? new TillkitError("store_unavailable", cause.message, { cause }) : cause);

export function mysqlAdapter(pool: Pool): TransactionAdapter<MysqlTx> {
  const checked = new WeakSet();
  // mysql2 puts the values into the text, with backslashes. With NO_BACKSLASH_ESCAPES they would end a string too early.
  // Without autocommit, a read would begin a transaction, and later reads would get old records from its snapshot.
  async function connect() {
    const connection = await pool.getConnection();
    try {
      if (!checked.has(connection.connection)) {
        const rows = (await connection.query(modes))[0] as Record<string, string>[];
        for (const { Variable_name, Value = "" } of rows)
          if (/NO_BACKSLASH_ESCAPES|OFF|READ-UNCOMMITTED/.test(Value))
            throw new TillkitError("option_invalid", `The session's ${Variable_name} must not be ${Value}.`);
        checked.add(connection.connection);
      }
      return connection;
    } catch (error) {
      connection.release();
      throw error;
    }
  }
  async function select(rest: string, params: unknown[], tx?: MysqlTx): Promise<StoredRecord[]> {
    const sql = "select convert(id using ascii) as `key`, version, value from payment_records where ";
    if (tx) return (await tx.query(sql + rest, params))[0] as StoredRecord[];
    const connection = await connect();
    return select(rest, params, connection).finally(() => connection.release());
  }
  return {
    durable: true,
    close: () => pool.end(),
    migrate: async () => (await connect()).release(),
    // The limit overrides a smaller sql_select_limit of the session.
    read: (keys, tx) => select("id in (?) limit 100", [keys], tx),
    scan: ({ from, to, limit, reverse }, tx) =>
      select(`id >= ? and id < ? order by id ${reverse ? "desc" : "asc"} limit ?`, [from, to, limit], tx),
    async write(changes, tx) {
      for (const { key, version, value } of changes) {
        const sql = version === 0 ? insert : value === null ? remove : update;
        const [result] = await tx.query(sql, [value, key, version]).catch(conflictOf);
        if ((result as Partial<ResultSetHeader>).affectedRows !== 1) return false;
      }
      return true;
    },
    async transaction(run) {
      const connection = await connect();
      let last = connection.query("set transaction isolation level read committed");
      // Each statement fails where one before it has failed: after a deadlock MySQL has rolled back what was before.
      const query: MysqlTx["query"] = (sql, params) =>
        (last = last.then(() => connection.query(sql, params)).catch(fail));
      const tx = { query };
      try {
        await query("start transaction");
        const result = await run(tx);
        await query("commit");
        return result;
      } catch (error) {
        await connection.rollback().catch(() => connection.destroy());
        throw error;
      } finally {
        tx.query = () => Promise.reject(new Error("This transaction has ended."));
        connection.release();
      }
    },
  };
}
