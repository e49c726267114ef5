import { type Dialect } from "./dialect.js";
import { type Session, type SqlResult, type TxAtOnce } from "./sql-tx.js";

/** A connection inside one open transaction. */
export interface OpenTransaction<Raw> {
  readonly raw: Raw;
  /** Where the begin is sent with the first statement: sends it now, for what goes past `query` and `run`. */
  begun?(): Promise<unknown>;
  /**
   * Whether a statement may be handed over before the one in front of it was answered: the database takes them in their order
   * and refuses everything behind one that failed, the commit too.
   */
  readonly isOrdered?: boolean;
  /**
   * Lets all locks go and begins anew, ahead of the next statement. Where statements are ordered and a locking read has no
   * order of its own, so that what is to be locked has to be known; nothing must have been written.
   */
  startAgain?(): Promise<unknown>;
  /** The same for statements of the kit, where the database is in this process. */
  readonly atOnce?: TxAtOnce;
  /** A statement of the application, as it stands. */
  query(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** A statement of the kit, with `?` placeholders. */
  run(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** The same for each list of params, and how many rows each wrote; absent where a loop over `run` is no slower. */
  runEach?(sql: string, params: readonly (readonly unknown[])[]): Promise<number[]>;
  /** Commits and lets the connection go. A rejection means that nothing is known to be durable. */
  commit(): Promise<void>;
  /**
   * A statement of the kit that writes rows, its params texts and numbers, and the commit, sent together. Where it writes none, nothing is committed, all
   * is rolled back, and the answer is `false`. Absent where the database cannot.
   */
  commitBehind?(sql: string, params: readonly unknown[]): Promise<boolean>;
  /** Rolls back and lets the connection go, whatever state it is in. Never rejects. */
  rollback(): Promise<void>;
  /** Ends the transaction at once, and the connection with it, also while a statement runs. */
  abandon(): void;
}

/**
 * What a transaction is for, where a driver makes use of it. `handler`: one run of one; in return, its commit may be waited for a
 * little longer. `claim`: what a power failure takes back is as if it had never been made.
 */
export type Purpose = "handler" | "claim";

/** What differs between the databases beyond their SQL. Nothing is opened before the first use. */
export interface Driver<Raw> {
  readonly dialect: Dialect;
  /** How many transactions of handlers may be open at once; absent where the kit does not know the pool. */
  readonly handlerTransactions?: number;
  begin(purpose?: Purpose): Promise<OpenTransaction<Raw>>;
  /**
   * Begins, runs and commits where statements answer at once, with as few promises as can be: of a lone webhook's time, those
   * of the steps one by one were a tenth. Rejects with what `run` throws, and nothing is written then. Absent where the
   * database is not in this process.
   */
  atOnce?<T>(run: (tx: TxAtOnce) => T): Promise<T>;
  /**
   * The same on the one connection whose statements are sent without waiting for answers, not even for that to the
   * begin; nothing while that connection is taken. Absent where there is none.
   */
  beginAhead?(): Promise<OpenTransaction<Raw> | undefined>;
  /** Statements outside of any transaction: sees committed rows only, and never waits for one. */
  readonly reader: Session;
  /** One short statement that writes, on a connection of its own. */
  readonly writer: Session;
  migrate(): Promise<void>;
  warnings(): Promise<string[]>;
  close(): Promise<void>;
  /** Told after a commit that wrote events. */
  announce?(): void;
  wake?(listener: () => void): () => void;
}
