/** The result of one statement. */
export interface SqlResult<Row = Record<string, unknown>> {
  /** The rows that the statement returned. */
  rows: Row[];
  /** The number of written rows. For a statement that returns rows, the number of these rows. */
  affected: number;
}

/**
 * A transaction of one of the SQL stores, as handlers get it. The writes of a handler commit in the same
 * transaction as the "done" mark of its dispatch, or not at all.
 *
 * @typeParam Raw - The driver's handle: `DatabaseSync`, pg's `PoolClient`, or mysql2's promise connection.
 */
export interface SqlTx<Raw = unknown> {
  /** The dialect and the placeholders of the SQL: `?` for SQLite and MySQL, `$1` for PostgreSQL. */
  readonly dialect: "sqlite" | "postgres" | "mysql";

  /**
   * Runs one statement of the application, which the driver gets unchanged. `undefined` is bound as null. On
   * SQLite, booleans are bound as 0 and 1, and dates as ISO 8601.
   *
   * After a rejection, every later statement rejects with `transaction_poisoned`, and the transaction is
   * rolled back, even if the caller catches the error. After the end, statements reject with
   * `transaction_closed`. If the connection was lost, they reject with `store_unavailable`, and the driver's
   * error is the `cause`.
   */
  query<Row = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<SqlResult<Row>>;

  /**
   * The driver's own handle in this transaction, so that an ORM can use the transaction. `raw` is a promise,
   * because a handler's transaction opens at its first use. Do not commit or release the handle. SQLite has
   * one writer. So in a SQLite transaction, await only this database. With the option `transaction:
   * "shared"`, `raw` rejects with `transaction_control_refused`.
   */
  readonly raw: Promise<Raw>;
}

/** Runs the kit's own statements, which contain `?` for parameters on every database. */
export interface Session {
  run<Row = Record<string, unknown>>(sql: string, params: readonly unknown[]): Promise<SqlResult<Row>>;
}
