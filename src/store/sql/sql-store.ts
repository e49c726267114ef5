import { runLazily } from "../rules/run-lazily.js";
import { setImmediate as nextIteration } from "node:timers/promises";
import { errorFixes, TillkitError } from "../../errors/index.js";
import {
  type Changes,
  type Claim,
  type ClaimOptions,
  type DeadPage,
  type DispatchRecord,
  type Registration,
  type Locked,
  type LockKeys,
  type PaymentStore,
  type RetireOptions,
  type RunKey,
  type Saved,
} from "../contract.js";
import { Semaphore } from "../../shared/semaphore.js";
import { withTimeout } from "../../shared/with-timeout.js";
import { type Driver, type Purpose } from "./driver/driver.js";
import { poolShortage } from "./options.js";
import { recordChanges } from "./record-changes.js";
import { retryConflicts, retryOwnConflicts } from "./transaction/retry-conflicts.js";
import { type Session, type SqlResult, type SqlTx } from "./driver/sql-tx.js";
import { identityOf } from "./schema/migrate.js";
import {
  anythingToClaim,
  claimDue,
  type ClaimSteps,
  renewLease,
  retireDispatches,
  settleDispatch,
  settleDone,
  takeDue,
  takeDueInOneStatement,
} from "./tables/dispatches.js";
import { eventsPerRound, expandSome } from "./tables/expand-events.js";
import { deleteHandlers, Registrations, summarizeHandlers } from "./tables/handlers.js";
import { countWaiting, deadDispatches, dispatchesOfRun, historyOf, webhooksPage } from "./tables/history.js";
import { findNamedPayments, lockKeys } from "./tables/lock-payments.js";
import { type Database, type Tables } from "./tables/names.js";
import { readNotes } from "./tables/notes.js";
import { pruneFinal } from "./tables/prune.js";
import { duePayments, readPayment, readPaymentsPage, lookupDuePayments } from "./tables/read-payments.js";
import { saveChanges } from "./tables/save-changes.js";
import { rematchableWebhooks, strayWebhooks } from "./tables/webhooks.js";
import { type LazyTx, lazyTx, runInside, runPart } from "./transaction/lazy-tx.js";
import { runTransaction, type Transaction } from "./transaction/transaction.js";

/** A store of `tillkit/sql`. Opens nothing before its first use. */
export interface SqlPaymentStore<Raw = unknown> extends PaymentStore<SqlTx<Raw>> {
  /** Writes a copy of a SQLite file. Stores over other databases reject with `backup_refused`. */
  backup: NonNullable<PaymentStore["backup"]>;
  /**
   * Runs one statement of the application outside of any transaction. A read sees committed rows, and does
   * not wait for open transactions. On SQLite, only reads are allowed. Elsewhere, a write commits separately.
   */
  query<Row = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<SqlResult<Row>>;
}

/** The maximum time for which a claim expands events that no handler of this process wants. */
const maxExpandingMs = 500;

/** The maximum time for which `close` waits for running calls. */
const maxCloseMs = 10_000;

/** The implementation for all SQL databases. Driver and dialect contain the differences. */
export class SqlStore<Raw> implements SqlPaymentStore<Raw> {
  readonly durable = true;
  readonly maxGroup = Infinity;
  readonly wake?: (listener: () => void) => () => void;
  readonly #driver: Driver<Raw>;
  readonly #db: Database;
  readonly #registrations: Registrations<Raw>;
  readonly #running = new Set<Promise<unknown>>();
  /** Limits the number of handlers' transactions, so that connections are left for everything else. */
  readonly #semaphore: Semaphore | undefined;
  /** Whether the last claim reached its limit. */
  #wasFull = false;
  #migrated: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  readonly find = this.#reads(readPayment, false);
  readonly findMany = this.#reads(findNamedPayments);
  readonly due = this.#reads(duePayments);
  readonly lookupDue = this.#reads(lookupDuePayments);
  readonly list = this.#reads(readPaymentsPage);
  readonly history = this.#reads(historyOf);
  readonly revived = this.#reads(dispatchesOfRun);
  readonly webhooks = this.#reads(webhooksPage);
  readonly counts = this.#reads(countWaiting);
  readonly handlers = this.#reads(summarizeHandlers);
  readonly notes = this.#reads(readNotes, false);
  readonly identify = this.#reads(identityOf, false);
  readonly lock = this.#runsInside(lockKeys);
  readonly settle = this.#runsInside(settleDispatch);
  readonly rematchable = this.#runsInside(rematchableWebhooks);
  readonly stray = this.#runsInside(strayWebhooks);

  constructor(driver: Driver<Raw>, tables: Tables) {
    this.#driver = driver;
    this.#db = { dialect: driver.dialect, tables };
    this.#registrations = new Registrations(driver, this.#db);
    if (driver.handlerTransactions !== undefined) this.#semaphore = new Semaphore(driver.handlerTransactions);
    if (driver.wake) this.wake = (listener) => driver.wake!(listener);
  }

  transaction<T>(run: (tx: SqlTx<Raw>) => Promise<T>): Promise<T> {
    return this.#use(() => retryOwnConflicts(this.#driver.dialect, () => runTransaction(this.#driver, run)));
  }

  query<Row>(sql: string, params: readonly unknown[] = []): Promise<SqlResult<Row>> {
    return this.#use(() => this.#driver.query(sql, params) as Promise<SqlResult<Row>>);
  }

  readonly runHandler: PaymentStore<SqlTx<Raw>>["runHandler"] = (run, finish) => {
    const transaction = (work: (tx: SqlTx<Raw>) => Promise<void>): Promise<void> => {
      const task = () => runTransaction(this.#driver, work, "handler");
      return this.#use(() => this.#semaphore?.run(task) ?? task());
    };
    const { name } = this.#driver.dialect;
    return runLazily({ transaction, lateTx: (open) => lazyTx(name, open) }, run, finish);
  };

  runShared(work: Parameters<NonNullable<PaymentStore<SqlTx<Raw>>["runShared"]>>[0]): Promise<void> {
    let done: readonly RunKey[] = [];
    const run = async (tx: SqlTx<Raw>) => (done = await work((part) => runPart(tx as LazyTx<Raw>, part)));
    return this.runHandler(run, (tx) => runInside(tx, (whole) => settleDone(whole, this.#db, done)));
  }

  save(tx: SqlTx<Raw>, changes: Changes): Promise<Saved> {
    return runInside(tx, async (inner) => {
      const saved = await saveChanges(inner, this.#db, changes);
      if (changes.events?.length) inner.wroteEvents = true;
      return saved;
    });
  }

  record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean> {
    const recording = () => recordChanges(this.#driver, this.#db, keys, decide);
    return this.#use(() => retryConflicts(this.#driver.dialect, recording));
  }

  registerHandlers(handlers: readonly Registration[]): Promise<void> {
    return this.#use(() => this.#registrations.register(handlers));
  }

  claim(options: ClaimOptions): Promise<Claim[]> {
    return this.#use(async () => {
      if (options.limit <= 0 || options.handlers.length === 0) return [];
      // If other handlers want all events that one step has expanded, the claim does another step.
      for (const until = performance.now() + maxExpandingMs; ; await nextIteration()) {
        const { claims, expanded } = await this.#claimOnce(options);
        if (claims.length > 0 || expanded === 0 || performance.now() > until) return claims;
      }
    });
  }

  /** Claims in one step. `expanded` is the number of events that got their dispatches. */
  async #claimOnce(options: ClaimOptions): Promise<{ claims: Claim[]; expanded: number }> {
    const { limit } = options;
    let expanded = 0;
    const expand = async (tx: Transaction<Raw>) => (expanded = await expandSome(tx, this.#db));
    const { dialect, reader, writer } = this.#driver;
    // After a full claim, another one nearly always finds something, so this query is skipped.
    const found = this.#wasFull
      ? { unexpanded: true, due: true }
      : await anythingToClaim(reader, this.#db, options);
    if (!found.unexpanded && !found.due) return { claims: [], expanded };
    const inside = (tx: Transaction<Raw>): ClaimSteps => ({
      take: (max) => takeDue(tx, this.#db, { ...options, limit: max }),
      expand: () => expand(tx),
      commitApart: false,
    });
    const apart: ClaimSteps = {
      take: (max) => takeDueInOneStatement(writer, this.#db, { ...options, limit: max }),
      expand: () => this.#shortTransaction(expand),
      commitApart: true,
    };
    const claims = await (dialect.writesInQueries
      ? claimDue(apart, found, limit)
      : this.#shortTransaction((tx) => claimDue(inside(tx), found, limit), "claim"));
    this.#wasFull = claims.length === limit;
    return { claims, expanded };
  }

  renew(claim: RunKey, leaseMs: number): Promise<boolean> {
    const { dialect, writer } = this.#driver;
    return this.#use(() => retryConflicts(dialect, () => renewLease(writer, this.#db, claim, leaseMs)));
  }

  dead(options: DeadPage): Promise<DispatchRecord[]> {
    return this.#use(async () => {
      // A call that only reads must not wait for the writer.
      const { slowReader = this.#driver.reader } = this.#driver;
      if (!options.revive) return deadDispatches(slowReader, this.#db, options);
      const dead = await this.#shortTransaction((tx) => deadDispatches(tx, this.#db, options), "upkeep");
      if (dead.length > 0) this.#driver.announce?.();
      return dead;
    });
  }

  prune(options: Parameters<PaymentStore["prune"]>[0]): ReturnType<PaymentStore["prune"]> {
    return this.#use(() => this.#shortTransaction((tx) => pruneFinal(tx, this.#db, options), "upkeep"));
  }

  retire(options: RetireOptions): Promise<number> {
    return this.#use(async () => {
      await this.#expandMost();
      await this.#shortTransaction((tx) => deleteHandlers(tx, this.#db, options), "upkeep");
      return this.#shortTransaction((tx) => retireDispatches(tx, this.#db, options), "upkeep");
    });
  }

  migrate(): Promise<void> {
    return this.#use(() => Promise.resolve());
  }

  backup(file: string): Promise<{ bytes: number }> {
    // This method does not call `#use`, because a person may want a backup before the tables are upgraded.
    return this.#track(async () => {
      if (this.#driver.backup) return this.#driver.backup(file);
      const tools = "pg_dump for PostgreSQL, mysqldump or mariadb-dump for MySQL";
      throw new TillkitError("backup_refused", `The kit can back up only SQLite. Use ${tools}.`);
    });
  }

  warnings(kit?: { concurrency: number }): Promise<readonly string[]> {
    return this.#use(async () => {
      const weak = await this.#driver.warnings();
      if (!kit) return weak;
      const shortage = poolShortage(this.#driver.poolSize, kit.concurrency);
      this.#driver.shortage = shortage;
      return shortage ? [`pool_too_small: ${shortage} ${errorFixes.pool_too_small}`, ...weak] : weak;
    });
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      // Later, `#driver.close` cuts off the calls that still run, and their transactions never commit.
      await withTimeout(Promise.allSettled(this.#running), maxCloseMs, undefined, { unref: true });
      await this.#driver.close();
    })();
    return this.#closed;
  }

  /** Returns a method that reads committed rows. `many` selects the driver's slow reader, if it has one. */
  #reads<A extends unknown[], T>(read: (of: Session, db: Database, ...asked: A) => Promise<T>, many = true) {
    const reader = (): Session => (many && this.#driver.slowReader) || this.#driver.reader;
    return (...asked: A): Promise<T> => this.#use(() => read(reader(), this.#db, ...asked));
  }

  /** Returns a method that runs inside the given transaction. */
  #runsInside<Asked, T>(step: (tx: Transaction, db: Database, asked: Asked) => Promise<T>) {
    return (tx: SqlTx<Raw>, asked: Asked): Promise<T> =>
      runInside(tx, (inner) => step(inner, this.#db, asked));
  }

  /** Migrates if necessary, and runs a call that needs the tables. */
  #use<T>(run: () => Promise<T>): Promise<T> {
    return this.#track(() => this.#migrate().then(run));
  }

  /** Runs a call that uses the database. Refuses it if the store is closed. `close` waits for it. */
  async #track<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new TillkitError("store_closed", "The store was closed.");
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Migrates once. After a failure, the next use tries again. */
  #migrate(): Promise<void> {
    this.#migrated ??= this.#driver.migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  /** Expands waiting events, so that little is left for the transaction that blocks other expansions. */
  async #expandMost(): Promise<void> {
    const expand = () => this.#shortTransaction((tx) => expandSome(tx, this.#db), "claim");
    while ((await expand()) >= eventsPerRound) await nextIteration();
  }

  /** Runs a transaction of the kit. If the database ended it because of a deadlock, runs it again. */
  #shortTransaction<T>(run: (tx: Transaction<Raw>) => Promise<T>, purpose?: Purpose): Promise<T> {
    return retryConflicts(this.#driver.dialect, () => runTransaction(this.#driver, run, purpose));
  }
}
