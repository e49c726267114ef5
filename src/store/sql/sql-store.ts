import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { TillkitError } from "../../errors/index.js";
import { type Payment } from "../../model/payment.js";
import {
  type Changes,
  type Claim,
  type DeadPage,
  type DispatchRecord,
  type HandlerKey,
  type Locked,
  type LockKeys,
  type PaymentPage,
  type PaymentStore,
  type Saved,
  type Settlement,
  type StoreCounts,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../payment-store.js";
import { type Driver, type Purpose } from "./driver.js";
import { record } from "./record.js";
import { type KitTx, lazyTx, type SqlTx } from "./sql-tx.js";
import { countWaiting } from "./tables/counts.js";
import {
  anythingToClaim,
  claimDue,
  type ClaimSteps,
  renewLease,
  settleDispatch,
  takeDue,
  takeDueAtOnce,
} from "./tables/dispatches.js";
import { eventsPerRound, expandSome } from "./tables/expand-events.js";
import { deadDispatches, historyOf, webhooksPage } from "./tables/history.js";
import { handlerId, rememberHandlers, unknownHandlers } from "./tables/handlers.js";
import { findNamedPayments, lockKeys } from "./tables/lock-payments.js";
import { type Tables } from "./tables/names.js";
import { pruneFinal } from "./tables/prune.js";
import { duePayments, findPayment, listPayments, lookupDuePayments } from "./tables/read-payments.js";
import { saveChanges } from "./tables/save-changes.js";
import { parkedWebhooks, strayWebhooks } from "./tables/webhooks.js";
import { runTransaction, type Transaction } from "./transaction.js";
import { Turns } from "../../shared/semaphore.js";

/** A store of `tillkit/sql`: the whole contract, over one database. Opens nothing before its first use. */
export type SqlPaymentStore<Raw = unknown> = Required<
  Omit<PaymentStore<SqlTx<Raw>>, "wake" | "spoolDirectory">
> &
  Pick<PaymentStore<SqlTx<Raw>>, "wake" | "spoolDirectory">;

/** How long `close` waits for what runs. */
const closePatienceMs = 10_000;

/** The one implementation; what differs between the databases is in the driver and its dialect. */
export class SqlStore<Raw> implements SqlPaymentStore<Raw> {
  readonly durable = true;
  readonly wake?: (listener: () => void) => () => void;
  readonly #driver: Driver<Raw>;
  readonly #tables: Tables;
  readonly #remembered = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #turns: Turns | undefined;
  #isForHandler = false;
  /** Whether the last claim took as many as it was allowed. */
  #wasFull = false;
  #migrated: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(driver: Driver<Raw>, tables: Tables) {
    this.#driver = driver;
    this.#tables = tables;
    if (driver.handlerTransactions !== undefined) this.#turns = new Turns(driver.handlerTransactions);
    if (driver.wake) this.wake = (listener) => driver.wake!(listener);
  }

  transaction<T>(run: (tx: SqlTx<Raw>) => Promise<T>): Promise<T> {
    const [turns, purpose] = this.#isForHandler ? ([this.#turns, "handler"] as const) : [];
    const begun = (): Promise<T> => runTransaction(this.#driver, run, purpose);
    return this.#use(() => (turns ? turns.take(begun) : begun()));
  }

  find(clientId: string): Promise<Payment | undefined> {
    return this.#use(() => findPayment(this.#driver.reader, this.#tables, clientId));
  }

  findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]> {
    const { dialect, reader } = this.#driver;
    return this.#use(() => findNamedPayments(reader, dialect, this.#tables, keys));
  }

  lock(tx: SqlTx<Raw>, keys: LockKeys): Promise<Locked> {
    return lockKeys(kit(tx), this.#driver.dialect, this.#tables, keys);
  }

  async save(tx: SqlTx<Raw>, changes: Changes): Promise<Saved> {
    const saved = await saveChanges(kit(tx), this.#driver.dialect, this.#tables, changes);
    if (changes.events && changes.events.length > 0) await kit(tx).announceEvents();
    return saved;
  }

  record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean> {
    return this.#use(() => record(this.#driver, this.#tables, keys, decide));
  }

  registerHandlers(handlers: readonly HandlerKey[]): Promise<void> {
    return this.#use(() => this.#remember(handlers));
  }

  claim(options: { handlers: readonly HandlerKey[]; limit: number; leaseMs: number }): Promise<Claim[]> {
    return this.#use(async () => {
      const { handlers, limit } = options;
      if (limit <= 0 || handlers.length === 0) return [];
      const { dialect, reader, writer } = this.#driver;
      // Behind a full claim there is nearly always more; only an idle poll is worth a look that takes no lock.
      const found = this.#wasFull
        ? { unexpanded: true, due: true }
        : await anythingToClaim(reader, dialect, this.#tables, handlers);
      if (!found.unexpanded && !found.due) return [];
      const together = (tx: Transaction<Raw>): ClaimSteps => ({
        take: (most) => takeDue(tx, dialect, this.#tables, { ...options, limit: most }),
        expand: () => expandSome(tx, dialect, this.#tables),
        commitApart: false,
      });
      const apart: ClaimSteps = {
        take: (most) => takeDueAtOnce(writer, dialect, this.#tables, { ...options, limit: most }),
        expand: () => this.#shortTransaction((tx) => expandSome(tx, dialect, this.#tables)),
        commitApart: true,
      };
      const claims = await (dialect.writesInQueries
        ? claimDue(apart, found, limit)
        : this.#shortTransaction((tx) => claimDue(together(tx), found, limit), "claim"));
      this.#wasFull = claims.length === limit;
      return claims;
    });
  }

  settle(tx: SqlTx<Raw>, settlement: Settlement): Promise<boolean> {
    return settleDispatch(kit(tx), this.#driver.dialect, this.#tables, settlement);
  }

  parked(tx: SqlTx<Raw>, clientIds: readonly string[]): Promise<WebhookRecord[]> {
    return parkedWebhooks(kit(tx), this.#driver.dialect, this.#tables, clientIds);
  }

  stray(tx: SqlTx<Raw>, options: { before: string; limit: number }): Promise<WebhookRecord[]> {
    return strayWebhooks(kit(tx), this.#driver.dialect, this.#tables, options);
  }

  renew(claim: { eventId: string; handler: string; fence: number }, leaseMs: number): Promise<boolean> {
    const { writer, dialect } = this.#driver;
    return this.#use(() => renewLease(writer, dialect, this.#tables, claim, leaseMs));
  }

  due(page: {
    before: string;
    after?: { createdAt: string; clientId: string };
    limit: number;
  }): Promise<Payment[]> {
    return this.#use(() => duePayments(this.#driver.reader, this.#driver.dialect, this.#tables, page));
  }

  lookupDue(options: { before: string; limit: number }): Promise<Payment[]> {
    return this.#use(() => lookupDuePayments(this.#driver.reader, this.#tables, options));
  }

  list(page: PaymentPage): Promise<Payment[]> {
    return this.#use(() => listPayments(this.#driver.reader, this.#driver.dialect, this.#tables, page));
  }

  history(clientId: string): Promise<StoredHistory> {
    return this.#use(() => historyOf(this.#driver.reader, this.#driver.dialect, this.#tables, clientId));
  }

  webhooks(page: WebhookPage): Promise<WebhookRecord[]> {
    return this.#use(() => webhooksPage(this.#driver.reader, this.#driver.dialect, this.#tables, page));
  }

  dead(options: DeadPage): Promise<DispatchRecord[]> {
    const { dialect } = this.#driver;
    return this.#use(async () => {
      const revive = (tx: Transaction<Raw>) => deadDispatches(tx, dialect, this.#tables, options);
      const dead = await this.#shortTransaction(revive);
      if (options.revive && dead.length > 0) this.#driver.announce?.();
      return dead;
    });
  }

  counts(): Promise<StoreCounts> {
    return this.#use(() => countWaiting(this.#driver.reader, this.#driver.dialect, this.#tables));
  }

  prune(options: { before: string; limit: number }): Promise<{ webhooks: number; events: number }> {
    const { dialect } = this.#driver;
    return this.#use(() => this.#shortTransaction((tx) => pruneFinal(tx, dialect, this.#tables, options)));
  }

  lazy(open: () => Promise<SqlTx<Raw>>): SqlTx<Raw> {
    return lazyTx(this.#driver.dialect.name, () => {
      // Only handlers' transactions are lazy; `open` calls `transaction` before it returns.
      this.#isForHandler = true;
      try {
        return open();
      } finally {
        this.#isForHandler = false;
      }
    });
  }

  migrate(): Promise<void> {
    return this.#use(() => Promise.resolve());
  }

  warnings(): Promise<readonly string[]> {
    return this.#use(() => this.#driver.warnings());
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      // What hangs is cut off: its transaction never commits.
      const patience = new AbortController();
      const tooLong = delay(closePatienceMs, undefined, { signal: patience.signal, ref: false });
      await Promise.race([Promise.allSettled(this.#running), tooLong.catch(() => undefined)]);
      patience.abort();
      await this.#driver.close();
    })();
    return this.#closed;
  }

  /** Everything that touches the database goes through here: refused once closed, and awaited by `close`. */
  async #use<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new TillkitError("store_closed", "The store was closed.");
    const running = this.#migrate().then(run);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Once; a failure is forgotten, so that the next use tries again. */
  #migrate(): Promise<void> {
    this.#migrated ??= this.#driver.migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  async #remember(handlers: readonly HandlerKey[]): Promise<void> {
    const unseen = handlers.filter((handler) => !this.#remembered.has(handlerId(handler)));
    if (unseen.length === 0) return;
    const { dialect, reader } = this.#driver;
    if ((await unknownHandlers(reader, this.#tables, unseen)).length > 0) {
      // What waits for the handlers before them in steps, so that the transaction that lets nobody in has little left.
      const expand = (tx: Transaction<Raw>): Promise<number> => expandSome(tx, dialect, this.#tables);
      while ((await this.#shortTransaction(expand, "claim")) >= eventsPerRound) await turn();
      await this.#shortTransaction((tx) => rememberHandlers(tx, dialect, this.#tables, unseen));
    }
    for (const handler of unseen) this.#remembered.add(handlerId(handler));
  }

  /** A transaction of the kit alone, which may be run again where the database breaks a deadlock. */
  async #shortTransaction<T>(run: (tx: Transaction<Raw>) => Promise<T>, purpose?: Purpose): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await runTransaction(this.#driver, run, purpose);
      } catch (error) {
        if (tries === 5 || !this.#driver.dialect.isDeadlock(error)) throw error;
      }
    }
  }
}

function kit<Raw>(tx: SqlTx<Raw>): KitTx<Raw> {
  return tx as KitTx<Raw>;
}
