/** The result of one statement. */
export interface SqlResult<Row = Record<string, unknown>> {
  /** The rows that the statement returned. */
  rows: Row[];
  /** The number of rows that were written; for a statement that returns rows, how many. */
  affected: number;
}

/**
 * A transaction of one of the SQL stores, as handlers get it. The writes of a handler commit in the same
 * transaction as the "done" mark of its dispatch, or not at all.
 *
 * @typeParam Raw - The driver's own handle: `DatabaseSync`, pg's `PoolClient`, or mysql2's promise connection.
 */
export interface SqlTx<Raw = unknown> {
  /** The dialect and the placeholders of the SQL: `?` for SQLite and MySQL, `$1` for PostgreSQL. */
  readonly dialect: "sqlite" | "postgres" | "mysql";

  /**
   * Runs one statement of the application, which the driver gets unchanged. `undefined` is bound as null; on SQLite booleans are
   * bound as 0 and 1 and dates as ISO 8601.
   *
   * Once it rejects, the transaction is lost: every later statement rejects with `transaction_poisoned`, and the transaction is
   * rolled back even where the caller swallows the error. After the end it rejects with `transaction_closed`. Where the connection
   * was lost it rejects with `store_unavailable`, and the driver's error is its `cause`.
   */
  query<Row = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<SqlResult<Row>>;

  /**
   * The driver's own handle, inside this transaction, for an ORM to join. It is a promise, because a handler's transaction
   * opens at its first use. Neither commit nor release it. On SQLite, await nothing but this database while its
   * statements run: there is one writer.
   */
  readonly raw: Promise<Raw>;
}

/** Runs the kit's own statements, which are written with `?` for every database. */
export interface Session {
  run<Row = Record<string, unknown>>(sql: string, params: readonly unknown[]): Promise<SqlResult<Row>>;
}
