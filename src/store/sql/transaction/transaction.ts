import { hasCode, TillkitError } from "../../../errors/index.js";
import { type Dialect } from "../driver/dialect.js";
import { type Driver, type OpenTransaction, type Purpose, type SyncTx } from "../driver/driver.js";
import { type Session, type SqlResult, type SqlTx } from "../driver/sql-tx.js";
import { refuseEnding, refuseHandle, TransactionParts } from "./transaction-parts.js";

/** Begins, runs and ends one transaction. */
export async function runTransaction<Raw, T>(
  driver: Driver<Raw>,
  run: (tx: Transaction<Raw>) => Promise<T>,
  purpose?: Purpose,
): Promise<T> {
  const tx = new Transaction(driver.dialect, await driver.begin(purpose));
  let result: T;
  try {
    result = await run(tx);
  } catch (error) {
    // `orLost` must run before the rollback, because the rollback itself may end the connection.
    const failure = tx.orLost(error);
    await tx.rollback();
    throw failure;
  }
  await tx.commit();
  if (tx.wroteEvents) driver.announce?.();
  return result;
}

/** A statement that writes rows. If it writes none, the transaction rejects with the error of `orElse`. */
interface LastStatement {
  sql: string;
  params: readonly unknown[];
  orElse: () => Error;
}

/**
 * One open transaction. The first failed statement poisons it. The driver gets its statements one at a time.
 * A deadlock or a full disk can make the database end the transaction, and a later statement would then
 * commit separately. On a pipelined connection, the database itself refuses the statements after a failure.
 */
export class Transaction<Raw = unknown> implements SqlTx<Raw>, Session {
  readonly dialect: SqlTx["dialect"];
  /** Whether statements may be sent before the previous statements have their results. */
  readonly isPipelined: boolean;
  /** Releases all locks and begins again. See `OpenTransaction`. */
  readonly restart?: () => Promise<unknown>;
  /** Runs synchronous steps. Present if the database is in this process. */
  readonly sync?: <T>(run: (tx: SyncTx) => T) => Promise<T>;
  /** Whether this is a part of a transaction that also contains the runs of other events. */
  readonly isShared: boolean;
  /** Whether to notify other processes after the commit. */
  wroteEvents = false;
  /** The number of an ORM's open savepoints. If there are any, the kit writes and commits nothing. */
  openSavepoints = 0;
  /** Called when the transaction accepts no more statements. */
  onClosed?: () => void;
  readonly #dialect: Dialect;
  readonly #open: OpenTransaction<Raw>;
  /** The newest statement, until it settles. When it has settled, all earlier ones have settled. */
  #newest: Promise<unknown> | undefined;
  /** The statement to send with the commit. */
  #last: LastStatement | undefined;
  #isRunning = false;
  /** Whether the application has the driver's handle, on which it may send more statements at any time. */
  #isHandedOut = false;
  /** Whether new statements are refused. Statements that were given before the commit still run. */
  #closed = false;
  #rolledBack = false;
  #poison: { cause: unknown } | undefined;
  #parts: TransactionParts<Raw> | undefined;

  constructor(dialect: Dialect, open: OpenTransaction<Raw>) {
    this.dialect = dialect.name;
    this.isPipelined = open.isPipelined ?? false;
    this.isShared = open.isShared ?? false;
    this.#dialect = dialect;
    this.#open = open;
    if (open.restart) this.restart = () => this.#guarded(() => open.restart!());
    const { sync } = open;
    if (sync) this.sync = (run) => this.#guarded(() => this.#translated(async () => run(sync)));
  }

  get raw(): Promise<Raw> {
    if (this.#closed) return Promise.reject(closed());
    if (this.isShared) return Promise.reject(refuseHandle());
    this.#isHandedOut = true;
    if (!this.#open.start) return Promise.resolve(this.#open.raw);
    return this.#guarded(() => this.#open.start!()).then(() => this.#open.raw);
  }

  async query<Row>(sql: string, params: readonly unknown[] = []): Promise<SqlResult<Row>> {
    const send = (): Promise<SqlResult> => {
      if (this.isShared) refuseEnding(sql);
      return this.#open.query(sql, params);
    };
    try {
      return (await this.#guarded(send)) as SqlResult<Row>;
    } catch (error) {
      throw this.orLost(error);
    }
  }

  run<Row>(sql: string, params: readonly unknown[]): Promise<SqlResult<Row>> {
    return this.#guarded(() => this.#runOwn(sql, params)) as Promise<SqlResult<Row>>;
  }

  /**
   * Runs a step of an ORM, and begins the transaction if necessary. `ask` sends the ORM's statements on the
   * driver's handle. See `Savepoints`.
   */
  async onHandle<T>(
    run: (ask: (send: (raw: Raw) => Promise<unknown>) => Promise<unknown>) => Promise<T>,
  ): Promise<T> {
    const open = this.#open;
    try {
      return await this.#guarded(async () => {
        await this.#translated(async () => open.start?.());
        return run((send) => open.ask?.(async () => send(open.raw), "application") ?? send(open.raw));
      });
    } catch (error) {
      throw this.orLost(error);
    }
  }

  /** Runs a statement of the kit. Resolves `false` after a unique clash, and the transaction stays usable. */
  attempt(sql: string, params: readonly unknown[]): Promise<boolean> {
    return this.#guarded(async () => {
      try {
        await this.#runOwn(sql, params);
        return true;
      } catch (error) {
        if (hasCode(error, "store_conflict")) return false;
        throw error;
      }
    });
  }

  /**
   * Returns `store_unavailable` if the connection is lost, even if the application threw another error.
   * Otherwise returns the given error.
   */
  orLost(cause: unknown): unknown {
    // After a rollback, a lost connection is not the cause, because the kit itself may have cut it off.
    if (this.#rolledBack || !this.#open.isLost?.() || hasCode(cause, "store_unavailable")) return cause;
    // Errors of PostgreSQL's server have a severity. An application's errors have no severity.
    const isServers = (cause as { severity?: unknown } | undefined)?.severity !== undefined;
    const named = isServers ? this.#dialect.translate(cause) : cause;
    if (hasCode(named, "store_unavailable")) return named;
    const message = "The connection was lost during the transaction.";
    return new TillkitError("store_unavailable", message, { cause });
  }

  /** Prevents the commit of the transaction. */
  poison(cause: unknown): void {
    this.#poison ??= { cause };
  }

  /** Returns the next part of this transaction, with its own savepoint. The part before must have ended. */
  part(): Transaction<Raw> {
    if (this.#closed) throw closed();
    this.#parts ??= new TransactionParts(this.#dialect, this.#open, (cause) => this.#break(cause));
    return new Transaction(this.#dialect, this.#parts.next());
  }

  /** Ends the transaction, because a part of it could not be rolled back separately. */
  #break(cause: unknown): void {
    this.poison(cause);
    this.#close();
    if (!this.#rolledBack) this.#open.abandon();
    this.#rolledBack = true;
  }

  /** Keeps a statement to send it with the commit. Returns `false` if the connection cannot do this. */
  keepForCommit(last: LastStatement): boolean {
    if (!this.#open.commitWithLast) return false;
    this.#last = last;
    return true;
  }

  async commit(): Promise<void> {
    this.#close();
    // A statement that the caller did not await may still fail, and then the transaction must not commit.
    if (this.#newest && !this.isPipelined) await Promise.allSettled([this.#newest]);
    if (this.openSavepoints > 0) this.poison(new Error(leftOpen));
    if (this.#poison) {
      const failure = this.orLost(this.#poisoned());
      if (!this.#rolledBack) await this.#open.rollback();
      this.#rolledBack = true;
      throw failure;
    }
    const last = this.#last;
    const isCommitted = await this.#translated(async () => {
      if (last) return this.#open.commitWithLast!(last.sql, last.params);
      await this.#open.commit();
      return true;
    });
    if (!isCommitted) throw last!.orElse();
  }

  async rollback(): Promise<void> {
    if (this.#rolledBack) return;
    this.#rolledBack = true;
    this.#close();
    // Outside of a pipeline, a rollback would wait for a running statement, which may never end. A handler
    // that was given up may still use its handle, and must not do so in the connection's next transaction.
    if ((this.#isRunning && !this.isPipelined) || this.#isHandedOut) this.#open.abandon();
    else await this.#open.rollback();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  #close(): void {
    this.#closed = true;
    this.onClosed?.();
  }

  #runOwn(sql: string, params: readonly unknown[]): Promise<SqlResult> {
    // If an ORM rolled back later, it would also undo the writes of the kit.
    if (this.openSavepoints > 0) return Promise.reject(new Error(leftOpen));
    return this.#translated(() => this.#open.run(sql, params));
  }

  async #translated<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#dialect.translate(error);
    }
  }

  async #guarded<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closed();
    const waits = this.#newest && !this.isPipelined;
    const running = waits ? this.#runAfter(this.#newest!, run) : this.#run(run);
    this.#newest = running;
    try {
      return await running;
    } finally {
      if (this.#newest === running) this.#newest = undefined;
    }
  }

  async #runAfter<T>(previous: Promise<unknown>, run: () => Promise<T>): Promise<T> {
    await Promise.allSettled([previous]);
    return this.#run(run);
  }

  async #run<T>(run: () => Promise<T>): Promise<T> {
    if (this.#rolledBack) throw closed();
    if (this.#poison) throw this.#poisoned();
    this.#isRunning = true;
    try {
      return await run();
    } catch (error) {
      this.poison(error);
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  #poisoned(): TillkitError {
    const { cause } = this.#poison!;
    const why = cause instanceof Error ? cause.message : String(cause);
    return new TillkitError("transaction_poisoned", `A statement of this transaction failed: ${why}`, {
      cause,
    });
  }
}

const leftOpen = "A transaction of the ORM was still open when the handler resolved.";

/** Returns the error for a statement after the end of its transaction. */
export function closed(): TillkitError {
  return new TillkitError("transaction_closed", "The transaction has ended; this statement came too late.");
}
