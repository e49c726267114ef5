import { type Changes, type Locked, type LockKeys } from "../../contract.js";
import { type Dialect } from "./dialect.js";
import { type Session, type SqlResult } from "./sql-tx.js";

/** A connection inside one open transaction. */
export interface OpenTransaction<Raw> {
  readonly raw: Raw;
  /** Sends a statement on `raw`, and notices a connection that dies. Absent where the database is in this process. */
  ask?<T>(send: () => Promise<T>, purpose?: Purpose): Promise<T>;
  /** Begins the transaction now, for statements that bypass `query` and `run`. Absent where `begin` has sent its begin. */
  start?(): Promise<unknown>;
  /**
   * Whether a statement may be sent before the one in front of it has its result. The database runs them in order, and refuses
   * everything after one that failed, also the commit.
   */
  readonly isPipelined?: boolean;
  /**
   * Releases all locks and begins again; nothing must have been written. Present where statements are pipelined and a locking read
   * has no order of its own, so that the rows to lock have to be known.
   */
  restart?(): Promise<unknown>;
  /** Whether other parts of the same transaction commit with this one, so that the application must not end it. */
  readonly isShared?: boolean;
  /** Locks and saves synchronously, where the database is in this process. */
  readonly sync?: SyncTx;
  /** Runs a statement of the application, unchanged. */
  query(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /**
   * Sends commands, and then a statement of the application, in one message. Absent where each needs a round
   * trip.
   */
  queryAfter?(commands: readonly string[], sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** Runs a statement of the kit, with `?` placeholders. */
  run(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** Commits and gives the connection back. After a rejection nothing is known to be durable. */
  commit(): Promise<void>;
  /**
   * Sends a statement of the kit that writes rows, with strings and numbers as params, and the commit in one go. Resolves `false`
   * where it writes none: then everything is rolled back. Absent where the connection cannot do this.
   */
  commitWithLast?(sql: string, params: readonly unknown[]): Promise<boolean>;
  /** Rolls back and gives the connection back, whatever state it is in. Never rejects, and ends within two seconds. */
  rollback(): Promise<void>;
  /** Ends the transaction immediately, and its connection, also while a statement runs. */
  abandon(): void;
  /** Whether the connection is gone, so that the transaction cannot commit. Absent where the database is in this process. */
  isLost?(): boolean;
}

/** Synchronous steps of one transaction. Nothing else in this process runs meanwhile. */
export interface SyncTx {
  lock(keys: LockKeys): Locked;
  /** Writes `updated`, `webhooks`, `copies` and `events`. Returns the eventKeys of webhooks that were left out. */
  save(changes: Pick<Changes, "updated" | "webhooks" | "copies" | "events">): string[];
}

/**
 * The purpose of a transaction or of a statement, where a driver makes use of it. `handler`: one run of a handler, whose commit may
 * take a little longer. `record`: webhooks. `claim`: a claim that is lost in a power failure is harmless, so it needs no sync.
 * `upkeep`: many rows. `application`: a statement of a handler.
 */
export type Purpose = "handler" | "record" | "claim" | "upkeep" | "migration" | "application";

/** The version of the tables in a database, 0 where there are none; and the version that this tillkit makes. */
export interface SchemaVersion {
  version: number;
  newest: number;
}

/** The differences between the databases beyond their SQL. Opens nothing before its first use. */
export interface Driver<Raw> {
  readonly dialect: Dialect;
  /** The number of handlers' transactions that may be open at the same time; absent where the kit does not know the pool. */
  readonly handlerTransactions?: number;
  /** The number of connections in the pool of an application, where the pool shows it. */
  readonly poolSize?: number | undefined;
  /** Says how much too small that pool is, for the error of waiting for one of its connections; empty where it is not. */
  shortage?: string;
  begin(purpose?: Purpose): Promise<OpenTransaction<Raw>>;
  /**
   * Begins on the pipelined connection, and does not wait for the result. Resolves `undefined` while that connection is taken or
   * cannot be opened. Absent where there is none.
   */
  beginPipelined?(): Promise<OpenTransaction<Raw> | undefined>;
  /** Runs statements outside of any transaction: sees committed rows only, and never waits for a transaction. */
  readonly reader: Session;
  /** As `reader`, for queries that may take long. Absent where no statement has a time limit. */
  readonly slowReader?: Session;
  /** Runs a statement of the application, unchanged and outside of any transaction. Never waits for a transaction. */
  query(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** Runs one short statement that writes, on a connection of its own. */
  readonly writer: Session;
  migrate(): Promise<void>;
  /** Reads the version of the tables, before any other method is called. Makes and changes nothing. */
  readVersion(): Promise<SchemaVersion>;
  warnings(): Promise<string[]>;
  /** Writes a backup, also before `migrate` is called. Absent where the database's own tool does that. */
  backup?(to: string): Promise<{ bytes: number }>;
  close(): Promise<void>;
  /** Notifies other processes; called after a commit that wrote events. */
  announce?(): void;
  wake?(listener: () => void): () => void;
}
