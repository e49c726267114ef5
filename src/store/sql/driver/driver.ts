import { type Changes, type Locked, type LockKeys } from "../../contract.js";
import { type Dialect } from "./dialect.js";
import { type Session, type SqlResult } from "./sql-tx.js";

/** A connection inside one open transaction. */
export interface OpenTransaction<Raw> {
  readonly raw: Raw;
  /** Sends a statement on `raw`, and notices a dead connection. Absent if the database is in this process. */
  ask?<T>(send: () => Promise<T>, purpose?: Purpose): Promise<T>;
  /** Begins now, for statements that bypass `query` and `run`. Absent if `begin` has sent the begin. */
  start?(): Promise<unknown>;
  /**
   * Whether a statement may be sent before the previous one has its result. The database runs statements in
   * order, and after a failed statement refuses all others, including the commit.
   */
  readonly isPipelined?: boolean;
  /**
   * Releases all locks and begins again. Nothing must have been written. Present if statements are pipelined
   * and a locking read ignores `order by`, so that the kit must know the clientIds before it locks.
   */
  restart?(): Promise<unknown>;
  /** Whether other parts of the transaction commit with this one, so that the application must not end it. */
  readonly isShared?: boolean;
  /** Locks and saves synchronously. Present if the database is in this process. */
  readonly sync?: SyncTx;
  /** Runs a statement of the application, unchanged. */
  query(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** Sends commands and a statement of the application in one message. Absent if that is impossible. */
  queryAfter?(commands: readonly string[], sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** Runs a statement of the kit, with `?` placeholders. */
  run(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /** Commits and gives the connection back. After a rejection, the result of the commit is unknown. */
  commit(): Promise<void>;
  /**
   * Sends a statement of the kit that writes rows, and the commit, in one message. The params are strings and
   * numbers. If the statement writes no row, rolls everything back and resolves `false`. Absent if the
   * connection cannot do this.
   */
  commitWithLast?(sql: string, params: readonly unknown[]): Promise<boolean>;
  /** Rolls back and gives the connection back, in any state. Never rejects, and ends within two seconds. */
  rollback(): Promise<void>;
  /** Ends the transaction and its connection immediately, even while a statement runs. */
  abandon(): void;
  /** Returns whether the connection is lost. Absent if the database is in this process. */
  isLost?(): boolean;
}

/** Synchronous steps of one transaction. Nothing else in this process runs during a step. */
export interface SyncTx {
  lock(keys: LockKeys): Locked;
  /** Writes changes. Returns the eventKeys of webhooks that were left out because they are taken. */
  save(changes: Pick<Changes, "updated" | "webhooks" | "copies" | "events">): string[];
}

/**
 * The purpose of a transaction or of a statement. A driver may treat these purposes differently:
 * - `handler`: one run of a handler, whose commit may take a little longer
 * - `record`: webhooks
 * - `claim`: a claim that a power failure may undo without harm, so it needs no sync
 * - `upkeep`: many rows
 * - `migration`: a step of a migration, which may take an hour
 * - `application`: a statement of a handler
 */
export type Purpose = "handler" | "record" | "claim" | "upkeep" | "migration" | "application";

/** The version of the tables in a database (0 if there are none), and this tillkit's version. */
export interface SchemaVersion {
  version: number;
  newest: number;
}

/** The differences between the databases beyond their SQL. A driver opens nothing before its first use. */
export interface Driver<Raw> {
  readonly dialect: Dialect;
  /**
   * The maximum number of handlers' transactions at the same time. Absent if the pool is not the kit's own.
   */
  readonly handlerTransactions?: number;
  /** The number of connections in an application's pool, if the pool shows it. */
  readonly poolSize?: number | undefined;
  /** A sentence that an error about the pool adds if the pool is too small. Otherwise empty. */
  shortage?: string;
  begin(purpose?: Purpose): Promise<OpenTransaction<Raw>>;
  /**
   * Begins on the pipelined connection without waiting for the result. Resolves `undefined` if that
   * connection is in use or cannot be opened. Absent if the driver has none.
   */
  beginPipelined?(): Promise<OpenTransaction<Raw> | undefined>;
  /**
   * Runs statements outside of any transaction. These statements see committed rows, and wait at most for a
   * commit.
   */
  readonly reader: Session;
  /** A reader for queries that may take long. Absent if no statement has a time limit. */
  readonly slowReader?: Session;
  /** Runs one statement of the application outside of any transaction. A read waits at most for a commit. */
  query(sql: string, params: readonly unknown[]): Promise<SqlResult>;
  /**
   * Runs one short statement that writes, outside of the open transactions. On SQLite, waits for their end.
   */
  readonly writer: Session;
  migrate(): Promise<void>;
  /** Reads the version of the tables before any other method is called. Changes nothing. */
  readVersion(): Promise<SchemaVersion>;
  warnings(): Promise<string[]>;
  /** Writes a backup, even before `migrate` is called. Absent if the database has its own tool for that. */
  backup?(to: string): Promise<{ bytes: number }>;
  close(): Promise<void>;
  /** Notifies other processes. Called after a commit that wrote events. */
  announce?(): void;
  wake?(listener: () => void): () => void;
}
