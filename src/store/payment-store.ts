import { type Payment } from "../model/payment.js";
import {
  type Changes,
  type Claim,
  type DeadPage,
  type DispatchRecord,
  type HandlerKey,
  type Locked,
  type LockKeys,
  type PaymentPage,
  type Saved,
  type Settlement,
  type StoreCounts,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "./records.js";

export type * from "./records.js";

/**
 * Where payments, webhooks and dispatches are kept. The kit owns all policy: what to decide, what to group, when
 * to retry. The store owns atomicity and uniqueness, and decides nothing. `testStore` from `tillkit/testing`
 * is its exam.
 *
 * `Tx` is the store's transaction, handed to application code as it is.
 */
export interface PaymentStore<Tx = unknown> {
  /** `false` for stores that forget at exit: refused when NODE_ENV is production. */
  readonly durable: boolean;

  /**
   * Optional. A directory on this machine's disk where webhooks may be spooled while the store cannot take them; used
   * where the `spool` option names none.
   */
  readonly spoolDirectory?: string;

  /**
   * Runs `run` in one transaction: committed and durable when the promise resolves with `run`'s result, rolled back
   * when `run` rejects (the promise then rejects with the same error). At least READ COMMITTED; transactions that
   * lock the same payment run one after the other. Application code may call it for writes of its own.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;

  /** The committed payment, or `undefined`. Never waits for a lock. */
  find(clientId: string): Promise<Payment | undefined>;

  /**
   * Reads the payments that any key names, and every payment that shares a reference with one of them, and locks
   * them until the transaction ends, in clientId order so that two callers cannot deadlock. Keys that name
   * nothing are skipped. Calling it twice in one transaction is allowed, and sees the transaction's own writes.
   */
  lock(tx: Tx, keys: LockKeys): Promise<Locked>;

  /**
   * Writes all of it, or rejects. Unique, each across the whole store: a payment's `clientId`; its `reference` among
   * payments with `open: true`; its `serviceId` where it has one; a webhook's `receiptId`, and its `eventKey`; an
   * event's `id`. For `created` and `webhooks` a clash skips that row and reports it; any other clash rejects
   * with the code `store_conflict`. `updated` is written before `created`, so that one call can close
   * an attempt and open the next. After a rejection the transaction cannot commit. A repeated call with the same receiptIds stores nothing twice.
   */
  save(tx: Tx, changes: Changes): Promise<Saved>;

  /**
   * Optional. In one transaction of its own: `lock` with these keys, `decide` on what it found, and `save` of what was decided,
   * which is nothing but payments that were locked, `webhooks`, `copies` and `events`. Resolves `true` after the commit.
   * Resolves `false`, with nothing stored, where `save` would have reported a webhook as taken: the caller decides anew.
   * Rejects as those three do, and with what `decide` throws. For a store that has a way with fewer round trips;
   * without it `transaction`, `lock` and `save` are called.
   */
  record?(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean>;

  /**
   * In one transaction of its own: remembers handlers that it has not seen (a new one starts with events saved from
   * then on); gives every event one dispatch for each remembered handler that wants it; and takes at most `limit`
   * dispatches of the named handlers, oldest event first, that are pending and due, or whose lease has ended. Taken
   * means: fence + 1, attempt + 1, leased for `leaseMs` by the database's clock. Two callers never take the same one
   * while its lease lasts. `limit: 0` only remembers.
   */
  claim(options: { handlers: readonly HandlerKey[]; limit: number; leaseMs: number }): Promise<Claim[]>;

  /**
   * Ends a claimed run inside `tx`. Resolves `false`, changing nothing, when the fence is no longer the newest or the
   * dispatch is not leased: the caller must then roll back. Called as the last statement before the commit.
   */
  settle(tx: Tx, settlement: Settlement): Promise<boolean>;

  /**
   * Recommended. The webhooks kept as `unmatched`, `unconfirmed` or `foreign` for these clientIds, oldest first. Without
   * it they wait for a replay.
   */
  parked?(tx: Tx, clientIds: readonly string[]): Promise<WebhookRecord[]>;

  /**
   * Recommended. At most `limit` webhooks kept as `unmatched` or `unconfirmed` that were received before the given
   * time and neither raised nor dismissed, oldest first, locked until the transaction ends; those that another
   * transaction has locked are skipped. Without it `payment.unmatched` is raised at once, with no grace period.
   */
  stray?(tx: Tx, options: { before: string; limit: number }): Promise<WebhookRecord[]>;

  /**
   * Recommended. Extends a lease, on a connection other than the handler's; `false` when it is lost. Without it a
   * handler must finish within one lease.
   */
  renew?(claim: { eventId: string; handler: string; fence: number }, leaseMs: number): Promise<boolean>;

  /**
   * Recommended. Payments in state creating, pending or uncertain with `createdAt` before the given time and no
   * `overdueAt`, ordered by (createdAt, clientId), after the given position. Without it: no overdue events.
   */
  due?(page: {
    before: string;
    after?: { createdAt: string; clientId: string };
    limit: number;
  }): Promise<Payment[]>;

  /**
   * Recommended. Payments with a `nextLookupAt` before the given time, ordered by (nextLookupAt, clientId). Without it
   * the service is only asked about payments whose browser comes back.
   */
  lookupDue?(options: { before: string; limit: number }): Promise<Payment[]>;

  /**
   * Optional. One page of payments in (createdAt, clientId) order, or in the reverse of it. `from` is included, `to` is
   * not. Without it: no `payments.list`.
   */
  list?(page: PaymentPage): Promise<Payment[]>;

  /**
   * Optional. The committed payments that any key names, and every other payment of their references, each once and in
   * no order; keys that name nothing are skipped. Never waits for a lock. At most 500 keys. Without it `payments.reconcile`
   * reads through `lock`, and holds those locks for a moment.
   */
  findMany?(keys: { clientIds?: readonly string[]; serviceIds?: readonly string[] }): Promise<Payment[]>;

  /**
   * Optional. What is on record about one clientId, at most 1,000 of each kind, oldest first, known payment or not.
   * Without it: no `payments.history`, and nothing can be resolved.
   */
  history?(clientId: string): Promise<StoredHistory>;

  /**
   * Optional. One page of the webhooks on record, in (receivedAt, receiptId) order, with their bytes; those whose bytes
   * were forgotten have none. Without it: no replay of webhooks.
   */
  webhooks?(page: WebhookPage): Promise<WebhookRecord[]>;

  /**
   * Optional. The dead dispatches that match every given condition, oldest event first, at most `limit`. With `revive`
   * each is pending again and due at once, with its attempts and failures back at none. Without it: no replay of dispatches.
   */
  dead?(options: DeadPage): Promise<DispatchRecord[]>;

  /**
   * Optional. A `Tx` that opens its transaction at the first use. Without it a handler's transaction is opened
   * before the handler runs.
   */
  lazy?(open: () => Promise<Tx>): Tx;

  /** Optional. Calls `listener` when another process saved events; answers with the way to stop. Without it: polling. */
  wake?(listener: () => void): () => void;

  /** Optional. What a person should know at a glance. Cheap however much is stored. Without it health tells less. */
  counts?(): Promise<StoreCounts>;

  /**
   * Optional. Forgets what was recorded before the given time and is final, at most `limit` of each: the raw bytes of
   * webhooks that are not parked (the rows and their eventKeys stay, so that a copy is still recognised), and
   * events all of whose dispatches are done, with those. Never a payment. Resolves to how many of each.
   */
  prune?(options: { before: string; limit: number }): Promise<{ webhooks: number; events: number }>;

  /** Optional. Makes or upgrades the tables. Safe to call from several processes at once, and again. */
  migrate?(): Promise<void>;

  /** Optional. Releases connections. Later calls reject with `store_closed`. Calling it again is harmless. */
  close?(): Promise<void>;

  /** Optional. Findings on durability that do not stop the kit; read once, after `migrate`. */
  warnings?(): Promise<readonly string[]>;
}
