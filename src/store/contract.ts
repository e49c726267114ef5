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

/** Runs application code in one part of a shared transaction; see `PaymentStore.runShared`. */
export type RunPart<Tx> = (run: (tx: Tx) => Promise<unknown>) => Promise<void>;

/**
 * What the kit calls: the whole contract of a store. It stores payments, webhooks, events and dispatches. The kit decides what to write,
 * what to group and when to retry; the store guarantees atomicity and uniqueness, and decides nothing. A merchant's own store is made with
 * `storeOver`, which needs a few operations of a database. This type is for code that wraps a store. `testStore` from `tillkit/testing`
 * checks a store against it.
 *
 * Every member is there, except `runShared`, `wake`, `backup` and `spoolDirectory`, which not every database can have.
 *
 * `Tx` is the store's transaction. Application code gets it unchanged.
 */
export interface PaymentStore<Tx = unknown> {
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

  /**
   * Runs application code with a `tx`, and then `finish` as the last statement of the same transaction, as `transaction` would. A store
   * that can opens the transaction at the first use of `tx`, or for `finish`, so that a slow handler holds no connection before.
   */
  runHandler(run: (tx: Tx) => Promise<unknown>, finish: (tx: Tx) => Promise<void>): Promise<void>;

  /**
   * Runs `work` in one transaction. Each `part(run)` runs application code with a `tx` of its own behind a savepoint, one after the
   * other: where `run` rejects, its writes alone are rolled back, and `part` rejects with its error. `work` returns the runs that are
   * done. They are settled in one statement, and everything commits. Rejects, and commits nothing, where one of them lost its lease or
   * a part could not be rolled back alone; no later part runs then. Absent where the kit runs each handler with `runHandler`.
   */
  runShared?(work: (part: RunPart<Tx>) => Promise<readonly RunKey[]>): Promise<void>;

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

  /**
   * Returns the webhooks kept as `unmatched`, `unconfirmed` or `foreign` for these clientIds, oldest first.
   */
  rematchable(tx: Tx, clientIds: readonly string[]): Promise<WebhookRecord[]>;

  /**
   * Returns at most `limit` webhooks, oldest first, that are kept as `unmatched` or `unconfirmed`, were received before
   * the given time and were neither raised nor dismissed. Locks them until the transaction ends, and skips those that
   * another transaction has locked.
   */
  stray(tx: Tx, options: { before: string; limit: number }): Promise<WebhookRecord[]>;

  /**
   * Gives a lease a new end, `leaseMs` from now, on a connection other than the handler's. Resolves to `false` when the
   * lease is lost.
   */
  renew(run: RunKey, leaseMs: number): Promise<boolean>;

  /**
   * Returns at most `limit` payments in state creating, pending or uncertain, with `createdAt` before the given time and
   * no `overdueAt`, ordered by (createdAt, clientId), after the given position.
   */
  due(page: DuePage): Promise<Payment[]>;

  /**
   * Returns at most `limit` payments with a `nextLookupAt` before the given time, ordered by (nextLookupAt, clientId).
   */
  lookupDue(options: { before: string; limit: number }): Promise<Payment[]>;

  /**
   * In one transaction of its own: `lock` with these keys, `decide` on what it found, and `save` of the decision. The
   * decision has no other changes than `updated` payments that were locked, `webhooks`, `copies` and `events`.
   * Resolves to `true` after the commit. Resolves to `false`, with nothing stored, where `save` would have reported a
   * webhook as taken; the caller then decides again. Rejects as these three do, and with what `decide` throws.
   */
  record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean>;

  /** The number of webhooks that one call of `record` or `save` should have at most; `Infinity` where the database has no limit. */
  readonly maxGroup: number;

  /**
   * Returns one page of payments in (createdAt, clientId) order, or in the reverse order. `from` is included, `to` is not.
   */
  list(page: PaymentPage): Promise<Payment[]>;

  /**
   * Returns the committed payments that any key names, and every other payment of their references, each once and in no
   * order. Takes at most 500 keys, and skips those that name nothing. Never waits for a lock.
   */
  findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]>;

  /**
   * Returns one page of what is stored about one clientId, oldest first, whether a payment has that clientId or not: the newest
   * webhooks, events and resolutions, and all dispatches of these events, also those that no process has claimed.
   */
  history(clientId: string, page?: HistoryPage): Promise<StoredHistory>;

  /**
   * Returns one page of the stored webhooks, in (receivedAt, receiptId) order, with their bytes. A webhook whose bytes
   * were pruned has none.
   */
  webhooks(page: WebhookPage): Promise<WebhookRecord[]>;

  /**
   * Returns at most `limit` dead dispatches that match every given condition, oldest event first. With `revive` each of
   * them becomes pending and due immediately, with attempts and failures reset to zero and the end before that in `past`.
   */
  dead(options: DeadPage): Promise<DispatchRecord[]>;

  /**
   * Returns at most `limit` dispatches that were last revived under this id, in any state, in the order of eventId and handler, after
   * the given one.
   */
  revived(page: RevivedPage): Promise<DispatchRecord[]>;

  /**
   * Returns the numbers that a person should see first. Stays cheap however much is stored.
   */
  counts(options?: CountsOptions): Promise<StoreCounts>;

  /**
   * Returns the registered handlers by name, sorted, each with the number of its dispatches that wait, and that are dead.
   */
  handlers(): Promise<HandlerSummary[]>;

  /**
   * Returns the committed notes of one kind, sorted by id.
   */
  notes(options: NotesOptions): Promise<NoteRecord[]>;

  /**
   * Deletes what was recorded before the given time and is final, at most `limit` of each kind: the raw bytes of
   * webhooks that are not parked, nor a mismatch or an inadmissible one without a resolution of its receiptId (their rows and eventKeys
   * stay, so that a copy is still recognised), and events without a dispatch that waits or is dead, with their dispatches. Never deletes a payment. Resolves to how many of each, and to `after`, with which the next
   * call goes on behind what it may not delete. It is absent where the store looks at that again.
   */
  prune(options: { before: string; limit: number; after?: PrunePosition }): Promise<PrunedBatch>;

  /**
   * Forgets the handlers of one name, so that events which are saved later get no dispatch for it. Then settles at most
   * `limit` of its dispatches as `retired`: all that are not done, also the leased and the dead ones. A retired dispatch is
   * never claimed, renewed or settled again. Resolves to how many; when they are fewer than `limit`, none is left.
   * With `event` it forgets only the registration of the name for that event, and retires the dispatches of events for which the
   * name is not registered otherwise.
   */
  retire(options: RetireOptions): Promise<number>;

  /**
   * Makes or upgrades the tables. Safe to call again, and from several processes at the same time.
   */
  migrate(): Promise<void>;

  /**
   * Stores this id as the identity of the store, unless it has one, and returns the one that it has: the same for every process, and
   * another one for a new database.
   */
  identify(newId: string): Promise<string>;

  /**
   * Releases connections. Later calls reject with `store_closed`. Calling it again is harmless.
   */
  close(): Promise<void>;

  /**
   * Returns findings that do not stop the kit: on durability, and with `concurrency`, the number of handlers that the kit
   * runs at the same time, on too few connections. The kit reads them once, after `migrate`.
   */
  warnings(kit?: { concurrency: number }): Promise<readonly string[]>;

  /**
   * Calls `listener` when another process saved events. Returns a function that ends this. Absent where
   * the kit must find them by polling.
   */
  wake?(listener: () => void): () => void;

  /**
   * Writes a complete copy of the database, as it is at one moment, to a file that does not exist yet, and keeps taking
   * webhooks meanwhile. Resolves to its size when it is durable. Changes no tables. Absent where the
   * database has a tool of its own.
   */
  backup?(file: string): Promise<{ bytes: number }>;

  /**
   * A directory on this machine's disk for webhooks that the store cannot take at the moment. It is used when the `spool`
   * option names none.
   */
  readonly spoolDirectory?: string;
}
