import { hasCode, TillkitError } from "../../errors/index.js";
import { type Dialect } from "./dialect.js";
import { type Driver, type OpenTransaction, type Purpose } from "./driver.js";
import { type KitTx, type LastStatement, type SqlResult, type TxAtOnce } from "./sql-tx.js";

const rollbackPatienceMs = 2000;

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
    await tx.rollback();
    throw error;
  }
  await tx.commit();
  if (tx.wroteEvents) driver.announce?.();
  return result;
}

/**
 * One open transaction: poisoned by its first failed statement, closed at its end. Its statements reach the driver one
 * at a time: one that is already there when another fails may run after the database has ended the transaction by
 * itself (a deadlock, a full disk), and would commit alone. Where the driver says that they are ordered, that cannot be.
 */
export class Transaction<Raw> implements KitTx<Raw> {
  readonly dialect: Dialect["name"];
  readonly isOrdered: boolean;
  wroteEvents = false;
  readonly atOnce?: <T>(run: (tx: TxAtOnce) => T) => Promise<T>;
  readonly startAgain?: () => Promise<unknown>;
  readonly #dialect: Dialect;
  readonly #open: OpenTransaction<Raw>;
  /** The newest statement, until it settles; settled means that those before it have settled too. */
  #newest: Promise<unknown> | undefined;
  /** To be sent with the commit. */
  #last: LastStatement | undefined;
  #isRunning = false;
  /** No new statements; those that were given before a commit still run. */
  #closed = false;
  #rolledBack = false;
  #poison: { cause: unknown } | undefined;

  constructor(dialect: Dialect, open: OpenTransaction<Raw>) {
    this.dialect = dialect.name;
    this.isOrdered = open.isOrdered ?? false;
    this.#dialect = dialect;
    this.#open = open;
    if (open.startAgain) this.startAgain = () => this.#guarded(() => open.startAgain!());
    const { atOnce } = open;
    if (!atOnce) return;
    this.atOnce = (run) =>
      this.#guarded(async () => {
        try {
          return run(atOnce);
        } catch (error) {
          throw dialect.translate(error);
        }
      });
  }

  get raw(): Promise<Raw> {
    if (this.#closed) return Promise.reject(closed());
    if (!this.#open.begun) return Promise.resolve(this.#open.raw);
    return this.#guarded(() => this.#open.begun!()).then(() => this.#open.raw);
  }

  query<Row>(sql: string, params: readonly unknown[] = []): Promise<SqlResult<Row>> {
    return this.#guarded(() => this.#open.query(sql, params)) as Promise<SqlResult<Row>>;
  }

  run<Row>(sql: string, params: readonly unknown[]): Promise<SqlResult<Row>> {
    const translated = async (): Promise<SqlResult> => {
      try {
        return await this.#open.run(sql, params);
      } catch (error) {
        throw this.#dialect.translate(error);
      }
    };
    return this.#guarded(translated) as Promise<SqlResult<Row>>;
  }

  runEach(sql: string, params: readonly (readonly unknown[])[]): Promise<number[]> {
    const translated = async (): Promise<number[]> => {
      try {
        if (this.#open.runEach) return await this.#open.runEach(sql, params);
        const affected: number[] = [];
        for (const each of params) affected.push((await this.#open.run(sql, each)).affected);
        return affected;
      } catch (error) {
        throw this.#dialect.translate(error);
      }
    };
    return this.#guarded(translated);
  }

  attempt(sql: string, params: readonly unknown[]): Promise<SqlResult | undefined> {
    return this.#guarded(async () => {
      try {
        return await this.#open.run(sql, params);
      } catch (error) {
        const translated = this.#dialect.translate(error);
        if (hasCode(translated, "store_conflict")) return undefined;
        throw translated;
      }
    });
  }

  poison(error: unknown): Promise<void> {
    this.#poison ??= { cause: error };
    return Promise.resolve();
  }

  get commitsBehind(): boolean {
    return this.#open.commitBehind !== undefined;
  }

  commitBehind(last: LastStatement): void {
    this.#last = last;
  }

  announceEvents(): Promise<void> {
    this.wroteEvents = true;
    return Promise.resolve();
  }

  async commit(): Promise<void> {
    this.#closed = true;
    // A statement that nobody awaited may still fail, and must then take the transaction with it.
    if (this.#newest && !this.isOrdered) await Promise.allSettled([this.#newest]);
    if (this.#poison) {
      await this.#rollBack();
      throw this.#poisoned();
    }
    try {
      if (!this.#last) return await this.#open.commit();
      if (await this.#open.commitBehind!(this.#last.sql, this.#last.params)) return;
    } catch (error) {
      throw this.#dialect.translate(error);
    }
    throw this.#last.orElse();
  }

  async rollback(): Promise<void> {
    this.#closed = true;
    this.#rolledBack = true;
    // A rollback would queue behind a statement that may never end; where they are ordered, behind refusals only.
    if (this.#isRunning && !this.isOrdered) this.#open.abandon();
    else await this.#rollBack();
  }

  /** A connection that died silently would take for ever. */
  async #rollBack(): Promise<void> {
    const tooLong = setTimeout(() => this.#open.abandon(), rollbackPatienceMs);
    await this.#open.rollback();
    clearTimeout(tooLong);
  }

  async #guarded<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closed();
    const waits = this.#newest && !this.isOrdered;
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
      this.#poison ??= { cause: error };
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

function closed(): TillkitError {
  return new TillkitError("transaction_closed", "The transaction has ended; this statement came too late.");
}
