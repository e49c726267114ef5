import { type Dialect } from "./dialect.js";
import { type Session, type SqlResult, type TxAtOnce } from "./sql-tx.js";

/** A connection inside one open transaction. */
export interface OpenTransaction<Raw> {
  readonly raw: Raw;
  /**
   * Whether a statement may be handed over before the one in front of it was answered: the database takes them in their order
   * and refuses everything behind one that failed, the commit too.
   */
  readonly isOrdered?: boolean;
  /** The same for statements of the kit, where the database is in this process. */
  readonly atOnce?: TxAtOnce;
  /** A statement of the application, as it stands. */
  query(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** A statement of the kit, with `?` placeholders. */
  run(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** The same for each list of params; absent where a loop over `run` is no slower. */
  runEach?(sql: string, params: readonly (readonly unknown[])[]): Promise<SqlResult[]>;
  /** Commits and lets the connection go. A rejection means that nothing is known to be durable. */
  commit(): Promise<void>;
  /** Rolls back and lets the connection go, whatever state it is in. Never rejects. */
  rollback(): Promise<void>;
  /** Ends the transaction at once, and the connection with it, also while a statement runs. */
  abandon(): void;
}

/**
 * Where commits can share a sync: `own` makes it itself, and is what everything gets that does not say otherwise. `behind` may
 * leave it to whoever comes next, and its commit resolves after that. `none` waits for none: what a power failure takes
 * back must be as if it had never been.
 */
export type Sync = "own" | "behind" | "none";

/** What differs between the databases beyond their SQL. Nothing is opened before the first use. */
export interface Driver<Raw> {
  readonly dialect: Dialect;
  /** How many transactions of handlers may be open at once; absent where the kit does not know the pool. */
  readonly handlerTransactions?: number;
  begin(sync?: Sync): Promise<OpenTransaction<Raw>>;
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
