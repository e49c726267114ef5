/** What one statement answered. */
export interface SqlResult<Row = Record<string, unknown>> {
  rows: Row[];
  /** Rows written; for a statement that answers rows, how many. */
  affected: number;
}

/**
 * A transaction of one of the SQL stores, as handlers get it. What is written through it commits together with the
 * dispatch's own "done" mark, or not at all.
 *
 * @typeParam Raw - The driver's own handle: `DatabaseSync`, pg's `PoolClient`, or mysql2's promise connection.
 */
export interface SqlTx<Raw = unknown> {
  /** Whose SQL and placeholders to write: `?` for SQLite and MySQL, `$1` for PostgreSQL. */
  readonly dialect: "sqlite" | "postgres" | "mysql";

  /**
   * Runs one statement of the application. It is handed to the driver as it stands. `undefined` is bound as null; on
   * SQLite booleans are bound as 0 and 1 and dates as ISO 8601.
   *
   * Once it rejects, the transaction is lost: every later statement rejects with `transaction_poisoned`, and it is
   * rolled back even where the caller swallows the error. After the end it rejects with `transaction_closed`.
   */
  query<Row = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<SqlResult<Row>>;

  /**
   * The driver's own handle, inside this transaction, for an ORM to join. A promise, because a handler's transaction
   * opens at its first use. Neither commit nor release it. On SQLite, await nothing but this database while its
   * statements run: there is one writer.
   */
  readonly raw: Promise<Raw>;
}

/** The kit's own way in: statements written once, with `?`, for every dialect. */
export interface Session {
  run<Row = Record<string, unknown>>(sql: string, params: readonly unknown[]): Promise<SqlResult<Row>>;
}

/** A statement that writes rows, and what the transaction rejects with where it writes none. */
export interface LastStatement {
  sql: string;
  params: readonly unknown[];
  orElse: () => Error;
}

/** A {@link SqlTx} with what the store itself needs of it. */
export interface KitTx<Raw = unknown> extends SqlTx<Raw>, Session {
  /** Runs statements that answer at once, where the database is in this process. */
  readonly atOnce?: <T>(run: (tx: TxAtOnce) => T) => Promise<T>;
  /** Whether statements may be given before those in front of them were answered; the driver knows. */
  readonly isOrdered?: boolean;
  /** See the driver's. */
  readonly startAgain?: () => Promise<unknown>;
  /** One statement for each list of params, one after the other; how many rows each wrote. */
  runEach(sql: string, params: readonly (readonly unknown[])[]): Promise<number[]>;
  /** Like `run`, but a unique clash answers `undefined` and leaves the transaction usable. */
  attempt(sql: string, params: readonly unknown[]): Promise<SqlResult | undefined>;
  /** Whether `commitBehind` may be called. */
  readonly commitsBehind?: boolean;
  /** Has a last statement sent together with the commit, which goes with it. */
  commitBehind?(last: LastStatement): void;
  /** Makes sure that the transaction cannot commit. */
  poison(error: unknown): Promise<void>;
  /** Has other processes told, after the commit, that there are events. */
  announceEvents(): Promise<void>;
}

/** A transaction of a database in this process: its statements answer at once, and nothing else runs meanwhile. */
export interface TxAtOnce {
  readonly run: <Row = Record<string, unknown>>(sql: string, params: readonly unknown[]) => SqlResult<Row>;
  readonly runEach: (sql: string, params: readonly (readonly unknown[])[]) => number[];
  /** The same where nobody asks how many rows were written. */
  readonly writeEach: (sql: string, params: readonly (readonly unknown[])[]) => void;
  /** The values of the payments that this transaction read under its lock and has not written since, by clientId. */
  readonly stored: Map<string, readonly unknown[]>;
}

/** A transaction that is opened by the first statement; concurrent first statements open it once. */
export function lazyTx<Raw>(dialect: SqlTx["dialect"], open: () => Promise<SqlTx<Raw>>): KitTx<Raw> {
  let opened: Promise<KitTx<Raw>> | undefined;
  const get = (): Promise<KitTx<Raw>> => (opened ??= open().then((tx) => tx as KitTx<Raw>));
  return {
    dialect,
    query: async (sql, params) => (await get()).query(sql, params),
    run: async (sql, params) => (await get()).run(sql, params),
    runEach: async (sql, params) => (await get()).runEach(sql, params),
    attempt: async (sql, params) => (await get()).attempt(sql, params),
    poison: async (error) => (await get()).poison(error),
    announceEvents: async () => (await get()).announceEvents(),
    ...(dialect === "sqlite" && { atOnce: async (run) => (await get()).atOnce!(run) }),
    get raw() {
      return get().then((tx) => tx.raw);
    },
  };
}
