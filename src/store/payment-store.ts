import { type Payment } from "../model/payment.js";
import {
  type Changes,
  type Claim,
  type ClaimOptions,
  type DeadPage,
  type DispatchRecord,
  type DuePage,
  type Registration,
  type Locked,
  type LockKeys,
  type PaymentPage,
  type RetireOptions,
  type RunKey,
  type Saved,
  type Settlement,
  type StoreCounts,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "./records.js";

export type * from "./records.js";

/**
 * Stores payments, webhooks, events and dispatches. The kit decides what to write, what to group and when to retry.
 * The store guarantees atomicity and uniqueness, and decides nothing. `testStore` from `tillkit/testing` checks an
 * implementation against this contract.
 *
 * The members of this interface itself are required. The members of {@link StoreTiers} may be left out, and each of
 * them says what is missing without it.
 *
 * `Tx` is the store's transaction. Application code gets it unchanged.
 */
export interface PaymentStore<Tx = unknown> extends Partial<StoreTiers<Tx>> {
  /** `false` for a store that loses its data when the process exits. It is refused when NODE_ENV is production. */
  readonly durable: boolean;

  /**
   * Runs `run` in one transaction. When `run` resolves, the promise resolves with the same value, and by then the
   * transaction is committed and durable. When `run` rejects, the transaction is rolled back and the promise rejects
   * with the same error; with the code `store_unavailable` where the connection was lost meanwhile, so that the handler's
   * run does not count as failed. Isolation is READ COMMITTED or stricter. Transactions that lock the same payment and write run one
   * after the other, or as if they did: a store may run `run` again where another one was faster, unless it called `settle`, where
   * the transaction then rejects with `lease_lost`. Application code may call it for its own writes.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;

  /** Returns the committed payment, or `undefined`. Never waits for a lock. */
  find(clientId: string): Promise<Payment | undefined>;

  /**
   * Reads the payments that any key names, and every payment that shares a reference with one of them, and locks them
   * until the transaction ends. Locks in clientId order, so that two callers cannot deadlock. Skips keys that name
   * nothing. May be called again in one transaction; it then sees the transaction's own writes.
   */
  lock(tx: Tx, keys: LockKeys): Promise<Locked>;

  /**
   * Writes all changes, or rejects. Unique across the whole store are: a payment's `clientId`; its `reference` among
   * payments with `open: true`; its `serviceId`, if it has one; a webhook's `receiptId`; its `eventKey`; an event's
   * `id`. A clash in `created` or `webhooks` skips that row and reports it. Any other clash rejects with the code
   * `store_conflict`. Writes `updated` before `created`, so that one call can close an attempt and open the next. After
   * a rejection the transaction cannot commit. A repeated call with the same receiptIds stores nothing twice.
   */
  save(tx: Tx, changes: Changes): Promise<Saved>;

  /**
   * Stores, in one transaction of its own, the handlers that the store does not know yet. A new handler starts with
   * the events that are saved after that, by any process; with {@link Registration.since} also with those of that time that are
   * stored, and have no dispatch for it. Handlers that the store knows already are left unchanged. The kit repeats the call every few
   * seconds. Takes no longer where many events wait.
   */
  registerHandlers(handlers: readonly Registration[]): Promise<void>;

  /**
   * In one transaction of its own: gives every event one dispatch for each registered handler that wants it, then
   * leases at most `limit` dispatches of the named handlers and returns them. It takes those that are pending and due,
   * and those whose lease has ended, oldest event first, whichever process wrote the due time and the lease: nothing in
   * these options changes that. A due time that a clock wrote which was put back since by more than the wait should not
   * count. Each dispatch gets fence + 1 and attempt + 1, and is leased for `leaseMs`
   * by the database's clock. Two callers never get the same dispatch while its lease lasts. Registers nothing: a
   * handler that was never registered has no dispatches.
   */
  claim(options: ClaimOptions): Promise<Claim[]>;

  /**
   * Ends a claimed run inside `tx`. Resolves to `false`, and changes nothing, when the fence is no longer the newest or the
   * dispatch is not leased; the caller must then roll back. A store that notices this only at the commit rejects the transaction
   * with `lease_lost`. The kit calls it as the last statement before the commit.
   */
  settle(tx: Tx, settlement: Settlement): Promise<boolean>;
}

/** Every member that a store may leave out, by purpose. */
export type StoreTiers<Tx = unknown> = RecommendedStore<Tx> & StoreShortcuts<Tx> & StoreQueries & StoreUpkeep;

/**
 * Finds the work that is waiting: webhooks without their payment, runs that need a longer lease, payments to look up.
 * Recommended: without it payments are recorded and handlers run, but this work is delayed or never done.
 */
export interface RecommendedStore<Tx = unknown> {
  /**
   * Returns the webhooks kept as `unmatched`, `unconfirmed` or `foreign` for these clientIds, oldest first. Without it
   * they wait for a replay.
   */
  parked(tx: Tx, clientIds: readonly string[]): Promise<WebhookRecord[]>;

  /**
   * Returns at most `limit` webhooks, oldest first, that are kept as `unmatched` or `unconfirmed`, were received before
   * the given time and were neither raised nor dismissed. Locks them until the transaction ends, and skips those that
   * another transaction has locked. Without it `payment.unmatched` is raised immediately, with no grace period.
   */
  stray(tx: Tx, options: { before: string; limit: number }): Promise<WebhookRecord[]>;

  /**
   * Gives a lease a new end, `leaseMs` from now, on a connection other than the handler's. Resolves to `false` when the
   * lease is lost. Without it a handler must finish within one lease.
   */
  renew(run: RunKey, leaseMs: number): Promise<boolean>;

  /**
   * Returns at most `limit` payments in state creating, pending or uncertain, with `createdAt` before the given time and
   * no `overdueAt`, ordered by (createdAt, clientId), after the given position. Without it: no overdue events.
   */
  due(page: DuePage): Promise<Payment[]>;

  /**
   * Returns at most `limit` payments with a `nextLookupAt` before the given time, ordered by (nextLookupAt, clientId).
   * Without it the kit asks the service only about payments whose browser comes back.
   */
  lookupDue(options: { before: string; limit: number }): Promise<Payment[]>;
}

/** Does with fewer round trips or less waiting what the required members also do. Without it the kit is only slower. */
export interface StoreShortcuts<Tx = unknown> {
  /**
   * In one transaction of its own: `lock` with these keys, `decide` on what it found, and `save` of the decision. The
   * decision has no other changes than `updated` payments that were locked, `webhooks`, `copies` and `events`.
   * Resolves to `true` after the commit. Resolves to `false`, with nothing stored, where `save` would have reported a
   * webhook as taken; the caller then decides again. Rejects as these three do, and with what `decide` throws.
   * Without it the kit calls `transaction`, `lock` and `save`.
   */
  record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean>;

  /** The number of webhooks that one call of `record` or `save` should have at most. Without it there are up to 100. */
  readonly maxGroup: number;

  /**
   * Returns a `Tx` that opens its transaction at the first use. Without it a handler's transaction is opened before
   * the handler runs.
   */
  lazy(open: () => Promise<Tx>): Tx;

  /**
   * Calls `listener` when another process saved events. Returns a function that ends this. Without it the kit finds
   * them by polling.
   */
  wake(listener: () => void): () => void;
}

/**
 * Reads what is stored, for people and for statements. Without it payments go on as they are, but the calls of the
 * kit that show, compare or repeat stored records are refused or do less.
 */
export interface StoreQueries {
  /**
   * Returns one page of payments in (createdAt, clientId) order, or in the reverse order. `from` is included, `to` is not.
   * Without it: no `payments.list`.
   */
  list(page: PaymentPage): Promise<Payment[]>;

  /**
   * Returns the committed payments that any key names, and every other payment of their references, each once and in no
   * order. Takes at most 500 keys, and skips those that name nothing. Never waits for a lock. Without it
   * `payments.reconcile` reads through `lock`, and holds those locks for a moment.
   */
  findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]>;

  /**
   * Returns what is stored about one clientId, the newest 1,000 records of each kind, oldest first, whether a payment has that
   * clientId or not. Without it: no `payments.history`, and nothing can be resolved.
   */
  history(clientId: string): Promise<StoredHistory>;

  /**
   * Returns one page of the stored webhooks, in (receivedAt, receiptId) order, with their bytes. A webhook whose bytes
   * were pruned has none. Without it: no replay of webhooks.
   */
  webhooks(page: WebhookPage): Promise<WebhookRecord[]>;

  /**
   * Returns at most `limit` dead dispatches that match every given condition, oldest event first. With `revive` each of
   * them becomes pending and due immediately, with attempts and failures reset to zero. Without it: no replay of dispatches.
   */
  dead(options: DeadPage): Promise<DispatchRecord[]>;

  /**
   * Returns the numbers that a person should see first. Stays cheap however much is stored. Without it
   * `payments.health` tells less.
   */
  counts(): Promise<StoreCounts>;
}

/** Looks after the store's tables, disk space and connections. Without it the application does that itself. */
export interface StoreUpkeep {
  /**
   * Deletes what was recorded before the given time and is final, at most `limit` of each kind: the raw bytes of
   * webhooks that are not parked, nor a mismatch without a resolution of its receiptId (their rows and eventKeys stay, so that a copy is
   * still recognised), and events without a dispatch that waits or is dead, with their dispatches. Never deletes a payment. Resolves to how many of each. Without it
   * `payments.prune` deletes nothing.
   */
  prune(options: { before: string; limit: number }): Promise<{ webhooks: number; events: number }>;

  /**
   * Writes a complete copy of the database, as it is at one moment, to a file that does not exist yet, and keeps taking
   * webhooks meanwhile. Resolves to its size when it is durable. Changes no tables. Without it: no `payments.backup`.
   */
  backup(file: string): Promise<{ bytes: number }>;

  /**
   * Forgets the handlers of one name, so that events which are saved later get no dispatch for it. Then settles at most
   * `limit` of its dispatches as `retired`: all that are not done, also the leased and the dead ones. A retired dispatch is
   * never claimed, renewed or settled again. Resolves to how many; when they are fewer than `limit`, none is left.
   * With `event` it forgets only the registration of the name for that event, and retires the dispatches of events for which the
   * name is not registered otherwise. Without it no handler can be retired.
   */
  retire(options: RetireOptions): Promise<number>;

  /**
   * Makes or upgrades the tables. Safe to call again, and from several processes at the same time. Without it the
   * application makes the tables.
   */
  migrate(): Promise<void>;

  /**
   * Stores this id as the identity of the store, unless it has one, and returns the one that it has: the same for every process, and
   * another one for a new database. Without it the spool is tied to no store, and a replaced database is noticed later.
   */
  identify(newId: string): Promise<string>;

  /**
   * Releases connections. Later calls reject with `store_closed`. Calling it again is harmless. Without it the
   * application closes the connections.
   */
  close(): Promise<void>;

  /**
   * Returns findings that do not stop the kit: on durability, and with `concurrency`, the number of handlers that the kit
   * runs at the same time, on too few connections. The kit reads them once, after `migrate`. Without it nothing is said.
   */
  warnings(kit?: { concurrency: number }): Promise<readonly string[]>;

  /**
   * A directory on this machine's disk for webhooks that the store cannot take at the moment. It is used when the `spool`
   * option names none. Without it there is then no spool.
   */
  readonly spoolDirectory: string;
}
