import { type AdoptedPayment, type Adoption } from "../operations/adopt-payment.js";
import { type CreatedPayment } from "../checkout/create-payment.js";
import { type Handler, type HandlerOptions } from "../dispatch/handler.js";
import { type NoticeListener } from "../dispatch/notices.js";
import { type EventType, type NoticeMap, type NoticeType } from "../model/event-map.js";
import { type ReturnRequest, type ReturnView } from "../checkout/handle-return.js";
import { type Health } from "../operations/health.js";
import { type PaymentList, type PaymentQuery } from "../operations/list-payments.js";
import { type ResolvedOptions } from "./options/resolve-options.js";
import { type PaymentHistory } from "../operations/payment-history.js";
import { type PaymentRequest } from "../checkout/payment-request.js";
import { type Payment } from "../model/payment.js";
import { type Pruned } from "../operations/prune-records.js";
import { type WebhookRequest } from "../webhook/receive-webhook.js";
import { type Receipt } from "../webhook/recording/plan-group.js";
import { type DispatchQuery, type RevivedDispatches } from "../operations/replay-dispatches.js";
import { type Replayed, type ReplayQuery } from "../operations/replay-webhooks.js";
import { type Resolution, type Resolved } from "../operations/resolve-payment.js";
import { type ReconcileOptions, type StatementRows, type StatementRun } from "../statement/index.js";
import { type SignedField } from "../model/signed-fields.js";
import { type PaymentStore } from "../store/index.js";
import { type Swept } from "../operations/sweep-payments.js";
import { type Logger } from "pino";

/**
 * The kit, put together. Made by {@link createPayments}; mounted with `paymentRouter`.
 *
 * `Covers` are the webhook fields that the signature covers; `Tx` is the store's transaction.
 */
export interface Payments<Covers extends SignedField = SignedField, Tx = unknown> {
  /**
   * Creates a payment at the service and resolves to where the customer pays. Asking again for the same reference and
   * amount returns the open attempt.
   *
   * @throws TillkitError `reference_invalid`, `amount_invalid`, `currency_invalid`, `client_id_invalid`,
   * `metadata_invalid`, `locale_invalid`: nothing was stored or sent. `already_paid`, `client_id_taken`,
   * `creation_pending_elsewhere`: nothing was sent.
   * @throws PaymentCreationError when the service did not create it, or did not say so; see its `certainty`.
   */
  create(request: PaymentRequest): Promise<CreatedPayment>;
  /**
   * Takes over a payment that other code created at the service, so that its webhooks are matched here; those that came
   * before are matched at once. Doing it again with the same facts changes nothing.
   *
   * @throws TillkitError `reference_invalid`, `amount_invalid`, `currency_invalid`, `client_id_invalid`,
   * `metadata_invalid`, `service_id_invalid`, `service_id_taken`, `adoption_conflict`: nothing was changed.
   */
  adopt(adoption: Adoption): Promise<AdoptedPayment>;
  /**
   * Settles a mismatch, a double payment or a stranger. Who, why and when is kept, and read in the payment's history.
   *
   * @throws TillkitError `resolution_invalid`, `resolution_not_possible`, `store_method_missing`: nothing was changed.
   */
  resolve(resolution: Resolution): Promise<Resolved>;
  /**
   * Compares a settlement statement with the books: what is missing on either side, what differs, what was paid twice.
   * Changes nothing. `readStatement` makes the rows of a CSV file.
   *
   * @throws TillkitError `option_invalid`. The run itself: `statement_unreadable`, `statement_columns_unclear`,
   * `statement_period_missing`, `store_method_missing`.
   */
  reconcile(rows: StatementRows, options?: ReconcileOptions): StatementRun;
  /** What the store knows of a payment, or `undefined`. */
  find(clientId: string): Promise<Payment | undefined>;
  /**
   * One page of payments, by state, reference and period of creation; newest first unless told otherwise.
   *
   * @throws TillkitError `query_invalid`, `store_method_missing`
   */
  list(query?: PaymentQuery): Promise<PaymentList>;
  /**
   * Everything that happened to one payment, in order: webhooks, decisions, dispatches, returns, resolutions. What
   * support reads when a customer calls; for a stranger's clientId too.
   *
   * @throws TillkitError `store_method_missing`
   */
  history(clientId: string): Promise<PaymentHistory>;
  /**
   * Decides stored webhooks again, on the books as they are now. A dry run, which it is unless told otherwise, only
   * tells what would change.
   *
   * @throws TillkitError `query_invalid`, `store_method_missing`
   */
  replay(query?: ReplayQuery): Promise<Replayed>;
  /**
   * Runs dead dispatches again, one or many. A dry run, which it is unless told otherwise, only tells which.
   *
   * @throws TillkitError `query_invalid`, `store_method_missing`
   */
  replayDispatches(query?: DispatchQuery): Promise<RevivedDispatches>;

  /** Subscribes to `payment.completed`: fulfil the order here. See {@link Payments.on}. */
  onPaymentCompleted(handler: Handler<"payment.completed", Covers, Tx>, options?: HandlerOptions): void;
  /**
   * Subscribes to a durable event, or to a notice of this process. Register handlers before the first webhook
   * arrives: a name that the store has not seen starts with the events recorded from then on.
   *
   * @throws TillkitError `handler_name_taken` for a second handler of an event without a name of its own.
   */
  on<Type extends EventType>(type: Type, handler: Handler<Type, Covers, Tx>, options?: HandlerOptions): void;
  on<Type extends NoticeType>(type: Type, listener: NoticeListener<Type>): void;
  /** Subscribes to every durable event, under the name `any` unless another is given. */
  onAny(handler: Handler<EventType, Covers, Tx>, options?: HandlerOptions): void;

  /**
   * Opens the store and begins to dispatch. The router does this by itself; call it in a worker without HTTP, which
   * then lives until {@link Payments.close}. Rejects when the store cannot be opened now, and goes on trying.
   */
  start(options?: { keepAlive?: boolean }): Promise<void>;
  /** Stops dispatching, lets running handlers finish for at most 10 s, gives claims back, and closes the store. */
  close(): Promise<void>;

  /** One webhook, for frameworks other than Express; what the router calls. */
  receiveWebhook(this: void, request: WebhookRequest): Promise<Receipt>;
  /** One browser coming back, likewise. */
  handleReturn(this: void, request: ReturnRequest): Promise<ReturnView | undefined>;
  /** Tells this process's listeners of a notice; for frameworks other than Express. */
  notify<Type extends NoticeType>(this: void, type: Type, notice: NoticeMap[Type]): void;
  /**
   * Looks for what nobody speaks of: overdue payments, webhooks that wait too long. Also done every `sweepMs`. A call
   * while a sweep of this process is under way gets that one's answer.
   */
  sweep(): Promise<Swept>;

  /** For a readiness probe: whether webhooks are taken, and what needs a look. Never rejects. */
  health(): Promise<Health>;
  /**
   * Forgets raw bodies of final webhooks and events that are done with, recorded before `before`. Never a payment, an
   * eventKey, or anything parked, undone or dead. Needs a store with `prune`.
   */
  prune(options: { before: Date }): Promise<Pruned>;

  readonly store: PaymentStore<Tx>;
  readonly options: ResolvedOptions<Covers, Tx>;
  /** The logger in use; silent where `logger: false` was given. */
  readonly logger: Logger;
}
