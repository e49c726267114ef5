import { type EventType, type TillkitEvent } from "../model/event-map.js";
import { type SignedField } from "../model/signed-fields.js";
import { type SqlTx } from "../store/sql/index.js";

/** The second argument of a handler. */
export interface HandlerContext<Tx = unknown> {
  /**
   * The store's transaction. Stores of `tillkit/sql` open it only at its first use. Writes through `tx`
   * commit in the same transaction as the mark that this handler is done, or not at all.
   */
  readonly tx: Tx;
  /**
   * Aborts when this run may no longer commit, because its time limit passed, its lease was lost, or the kit
   * is closing.
   */
  readonly signal: AbortSignal;
  /**
   * A string that is equal in every run of this handler for this event. Give it to services that are not in
   * the transaction.
   */
  readonly idempotencyKey: string;
  /** The number of this run, from 1. Runs that ended in a crash are counted too. */
  readonly attempt: number;
}

/**
 * Application code that is called for an event. A handler may run more than once, but its writes through `tx`
 * commit once.
 *
 * `Handler<"payment.completed">` fits every signature scheme and every SQL store. `Covers` are the fields
 * that the handler reads from `event.verified`. For another store, `Tx` is the type of its transaction.
 */
export type Handler<Type extends EventType, Covers extends SignedField = never, Tx = SqlTx> = (
  event: TillkitEvent<Type, Covers>,
  context: HandlerContext<Tx>,
) => unknown;

/** Options of one handler. */
export interface HandlerOptions {
  /**
   * The durable name under which the store keeps the handler's progress. Keep the name when the code moves,
   * because a new name gets only later events. 1 to 64 characters of A-Z a-z 0-9 . _ : -
   *
   * @default the event's name, or `any` for a handler of all events
   */
  name?: string | undefined;
  /** The time limit of one run of this handler, in milliseconds. @default `dispatch.handlerTimeoutMs` */
  timeoutMs?: number | undefined;
  /**
   * With `"shared"`, runs for several events may share one transaction of a SQL store, each with its own
   * savepoint. Use it only for handlers that write quickly, and only to this database, because their locks
   * last until the shared transaction ends. `tx.raw` is refused. Other stores give each run its own
   * transaction.
   *
   * @default a transaction for each run
   */
  transaction?: "shared" | undefined;
}

/** Options of the retries of a failed handler. */
export interface RetryOptions {
  /** The number of failed runs after which the dispatch is dead. @default 12 */
  maxFailures: number;
  /**
   * The wait after the first failure. Each failure doubles the wait. Half of the wait is random.
   * @default 1000
   */
  firstDelayMs: number;
  /** The maximum wait after a failure. @default 3600000 (one hour) */
  maxDelayMs: number;
}
