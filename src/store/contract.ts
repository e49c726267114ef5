import { type Payment } from "../model/payment.js";
import {
  type DeadPage,
  type DuePage,
  type HistoryPage,
  type PaymentPage,
  type PrunedBatch,
  type PrunePosition,
  type WebhookPage,
} from "./query-pages.js";
import {
  type Changes,
  type Claim,
  type ClaimOptions,
  type CountsOptions,
  type DispatchRecord,
  type HandlerSummary,
  type NoteRecord,
  type NotesOptions,
  type Registration,
  type RevivedPage,
  type Locked,
  type LockKeys,
  type RetireOptions,
  type RunKey,
  type Saved,
  type Settlement,
  type StoreCounts,
  type StoredHistory,
  type WebhookRecord,
} from "./records.js";

export type * from "./query-pages.js";
export type * from "./records.js";

/** Runs application code in one part of a shared transaction. See `PaymentStore.runShared`. */
export type RunPart<Tx> = (run: (tx: Tx) => Promise<unknown>) => Promise<void>;

/**
 * The contract between the kit and a store, which stores payments, webhooks, events and dispatches. The kit
 * decides what to write, what to group and when to retry. The store guarantees atomicity and uniqueness. A
 * merchant makes a store with `storeOver`, which needs a few operations of a database. This type is for code
 * that wraps a store. `testStore` from `tillkit/testing` checks a store.
 *
 * Every member is required, except `runShared`, `wake`, `backup` and `spoolDirectory`, which not every
 * database can have. `Tx` is the store's transaction. Application code gets it unchanged.
 */
export interface PaymentStore<Tx = unknown> {
  /**
   * `false` if the store loses its data when the process exits. In production, the kit refuses such a store.
   */
  readonly durable: boolean;

  /**
   * Runs `run` in one transaction. When `run` resolves, the promise resolves with the same value, and by then
   * the transaction is committed and durable. When `run` rejects, the transaction is rolled back and the
   * promise rejects with the same error. If the connection was lost, the error has the code
   * `store_unavailable`. Isolation is READ COMMITTED or stricter. Transactions that lock and write the same
   * payment run one after the other, or have the same effect as if they did. After a conflict with a faster
   * transaction, a store may run `run` again. If `run` called `settle`, a store may reject with `lease_lost`
   * instead. Application code may call `transaction` for its own writes.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Runs application code with a `tx`, and then `finish` at the end of the same transaction. A store may open
   * the transaction at the first use of `tx`, or for `finish`. Until then, a slow handler holds no
   * connection.
   */
  runHandler(run: (tx: Tx) => Promise<unknown>, finish: (tx: Tx) => Promise<void>): Promise<void>;

  /**
   * Runs `work` in one transaction. Each `part(run)` runs application code with its own `tx` and savepoint,
   * one part after the other. If `run` rejects, only its writes are rolled back, and `part` rejects with its
   * error. `work` returns the runs that are done. One statement settles these runs, and everything commits.
   * Rejects and commits nothing if one of these runs lost its lease, or if a part could not be rolled back
   * separately. No later part runs then. If this method is absent, the kit runs each handler with
   * `runHandler`.
   */
  runShared?(work: (part: RunPart<Tx>) => Promise<readonly RunKey[]>): Promise<void>;

  /** Returns the committed payment, or `undefined`. Never waits for a lock. */
  find(clientId: string): Promise<Payment | undefined>;

  /**
   * Reads the payments with any of these keys, and all other payments of their references. Locks these
   * payments until the transaction ends. Locks in clientId order, so that two callers cannot deadlock. Skips
   * keys without a payment. A second call in one transaction sees the transaction's own writes.
   */
  lock(tx: Tx, keys: LockKeys): Promise<Locked>;

  /**
   * Writes all changes, or rejects. These values are unique in the store: a payment's `clientId` and
   * `serviceId`, an open payment's `reference`, a webhook's `receiptId` and `eventKey`, and an event's `id`.
   * `save` skips and reports a `created` payment whose clientId or open reference is taken, and a webhook
   * whose receiptId or eventKey is taken. Any other clash rejects with `store_conflict`. Writes `updated`
   * before `created`, so that one call can close an attempt and open the next. After a rejection the
   * transaction cannot commit. A repeated call with the same receiptIds stores nothing twice.
   */
  save(tx: Tx, changes: Changes): Promise<Saved>;

  /**
   * Stores, in its own transaction, the handlers that the store does not have yet. A new handler gets the
   * events that any process saves after that. With {@link Registration.since}, the handler also gets the
   * stored events since its first registration for which it has no dispatch. The clocks of processes differ,
   * so a store should remember the newest events of that moment. The store does not change handlers that it
   * already has. The kit repeats this call every ten seconds, so the call must not take longer when many
   * events wait.
   */
  registerHandlers(handlers: readonly Registration[]): Promise<void>;

  /**
   * In its own transaction, first gives every event one dispatch for each registered handler that wants it.
   * Then leases at most `limit` dispatches of the named handlers, and returns them, oldest event first. A
   * dispatch can be claimed if it is pending and due, or if its lease has ended. Any process may have written
   * the due time or the lease. If a clock wrote a due time and was then put back by more than the wait, the
   * dispatch should count as due. Each claimed dispatch gets fence + 1 and attempt + 1, and a lease of
   * `leaseMs` by the database's clock. Two callers never get the same dispatch during a lease. A handler that
   * was never registered has no dispatches.
   */
  claim(options: ClaimOptions): Promise<Claim[]>;

  /**
   * Ends a claimed run inside `tx`. Resolves to `false`, and changes nothing, if the fence is no longer the
   * newest or the dispatch is not leased. The caller must then roll back. A store that notices the lost lease
   * only at the commit rejects the transaction with `lease_lost`. The kit calls `settle` as the last
   * statement.
   */
  settle(tx: Tx, settlement: Settlement): Promise<boolean>;

  /** Returns the `unmatched`, `unconfirmed` and `foreign` webhooks of these clientIds, oldest first. */
  rematchable(tx: Tx, clientIds: readonly string[]): Promise<WebhookRecord[]>;

  /**
   * Returns at most `limit` webhooks with the outcome `unmatched` or `unconfirmed`, oldest first. These
   * webhooks were received before the given time, and were neither raised nor dismissed. Locks them until the
   * transaction ends, and skips webhooks that another transaction has locked.
   */
  stray(tx: Tx, options: { before: string; limit: number }): Promise<WebhookRecord[]>;

  /**
   * Lets a lease end `leaseMs` from now, outside of the handler's transaction. Resolves to `false` if the
   * lease is lost.
   */
  renew(run: RunKey, leaseMs: number): Promise<boolean>;

  /**
   * Returns at most `limit` payments in state creating, pending or uncertain, with `createdAt` before the
   * given time and without `overdueAt`. The order is (createdAt, clientId), and the page begins after the
   * given position.
   */
  due(page: DuePage): Promise<Payment[]>;

  /**
   * Returns at most `limit` payments with `nextLookupAt` before a time, sorted by (nextLookupAt, clientId).
   */
  lookupDue(options: { before: string; limit: number }): Promise<Payment[]>;

  /**
   * In its own transaction: calls `lock` with these keys, calls `decide` with the locked payments, and calls
   * `save` with the decision. The decision contains only `webhooks`, `copies`, `events`, and `updated`
   * payments that were locked. Resolves to `true` after the commit. If `save` reports a webhook as taken,
   * stores nothing and resolves to `false`, and the caller decides again. Rejects with the errors of `lock`,
   * `save` and `decide`.
   */
  record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean>;

  /** The maximum number of webhooks in one call of `record` or `save`. `Infinity` means no limit. */
  readonly maxGroup: number;

  /**
   * Returns one page of payments, sorted by (createdAt, clientId) or reversed. A payment of the time `to` is
   * not on the page.
   */
  list(page: PaymentPage): Promise<Payment[]>;

  /**
   * Returns the committed payments with any of these keys, and all other payments of their references. Each
   * payment appears once, in any order. Takes at most 500 keys, and skips keys without a payment. Never waits
   * for a lock.
   */
  findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]>;

  /**
   * Returns one page of the records of one clientId, oldest first. The page has the newest webhooks, events
   * and resolutions, and all dispatches of these events, even if they were never claimed. No payment needs to
   * have this clientId.
   */
  history(clientId: string, page?: HistoryPage): Promise<StoredHistory>;

  /**
   * Returns one page of the stored webhooks, sorted by (receivedAt, receiptId), with their bytes. A webhook
   * whose bytes were pruned has none.
   */
  webhooks(page: WebhookPage): Promise<WebhookRecord[]>;

  /**
   * Returns at most `limit` dead dispatches that match every given condition, oldest event first. With
   * `revive`, each of them becomes pending and due immediately, with zero attempts and failures. The previous
   * attempts, failures and error are added to `past`.
   */
  dead(options: DeadPage): Promise<DispatchRecord[]>;

  /**
   * Returns at most `limit` dispatches that were last revived under this id, in any state, sorted by eventId
   * and handler. The page begins after the given dispatch.
   */
  revived(page: RevivedPage): Promise<DispatchRecord[]>;

  /** Returns the numbers that a person should see first. The cost must not grow with the number of rows. */
  counts(options?: CountsOptions): Promise<StoreCounts>;

  /** Returns the registered handlers by name, each with its numbers of waiting and dead dispatches. */
  handlers(): Promise<HandlerSummary[]>;

  /** Returns the committed notes of one kind. Without `after` and `limit`, they are sorted by id. */
  notes(options: NotesOptions): Promise<NoteRecord[]>;

  /**
   * Deletes final data that was recorded before the given time, at most `limit` of each kind. `prune` never
   * deletes a payment. The two kinds are:
   * - the raw bytes of webhooks that are not parked. A mismatch or an inadmissible webhook keeps its bytes
   *   until a resolution names its receiptId. Rows and eventKeys stay, so that a later copy is still
   *   recognised
   * - events with their dispatches, unless one of these dispatches is still to be made, pending, leased or
   *   dead
   *
   * Resolves to both numbers, and to `after`, the position for the next call. A store that needs no position
   * returns no `after`.
   */
  prune(options: { before: string; limit: number; after?: PrunePosition }): Promise<PrunedBatch>;

  /**
   * Forgets the handlers of one name, so that later events get no dispatch for it. Then settles at most
   * `limit` of its dispatches as `retired`: all that are not done, including leased and dead ones. A retired
   * dispatch is never claimed, renewed or settled again. Resolves to the number of retired dispatches. If
   * this number is less than `limit`, no dispatch is left to retire. With `event`, forgets only the
   * registration for that event, and retires only the dispatches of events for which the name is no longer
   * registered.
   */
  retire(options: RetireOptions): Promise<number>;

  /** Creates or upgrades the tables. Several calls, even from concurrent processes, are safe. */
  migrate(): Promise<void>;

  /**
   * Stores this id as the identity of the store, unless the store has one. Returns the stored identity, which
   * is the same for every process. A new database has another identity.
   */
  identify(newId: string): Promise<string>;

  /** Releases connections. Later calls reject with `store_closed`. A second `close` is harmless. */
  close(): Promise<void>;

  /**
   * Returns findings that do not stop the kit, for example about durability. With `concurrency`, the number
   * of handlers that the kit runs at the same time, also warns of too few connections. The kit reads the
   * findings once, after `migrate`.
   */
  warnings(kit?: { concurrency: number }): Promise<readonly string[]>;

  /**
   * Calls `listener` when another process has saved events. Returns a function that ends the calls. If this
   * method is absent, the kit polls for events.
   */
  wake?(listener: () => void): () => void;

  /**
   * Writes a complete copy of the database, as it is at one moment, to a file that does not exist yet. During
   * this time, the store accepts webhooks. Resolves to the size of the file when the file is durable. Changes
   * no tables. Absent, or rejects with `backup_refused`, if the database has its own tool for copies.
   */
  backup?(file: string): Promise<{ bytes: number }>;

  /**
   * A directory on this machine's disk for webhooks that the store cannot record at the moment. The kit uses
   * it if the option `spool` names no directory.
   */
  readonly spoolDirectory?: string;
}
