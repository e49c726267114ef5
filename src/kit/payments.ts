import { type AdoptedPayment, type Adoption } from "../operations/adopt-payment.js";
import { type CreatedPayment } from "../checkout/create-payment.js";
import { type Handler, type HandlerOptions } from "../dispatch/handler.js";
import { type NoticeListener } from "../dispatch/notices.js";
import { type EventType } from "../model/event-map.js";
import { type NoticeMap, type NoticeType } from "../model/notice-map.js";
import {
  type PaymentClaimOutcome,
  type PaymentClaimRequest,
  type ReturnRequest,
  type ReturnView,
} from "../checkout/handle-return.js";
import { type AttendedEntry, type AttentionAction } from "../operations/attention/attend.js";
import { type AttentionList, type AttentionQuery } from "../operations/attention/list-attention.js";
import { type Health } from "../operations/health.js";
import {
  type ControlledHandler,
  type HandlerStatus,
  type LimitOptions,
  type PauseOptions,
  type ResumeOptions,
} from "../operations/handlers/control-handler.js";
import { type RetireHandlerOptions } from "../operations/retire-handler.js";
import { type PaymentList, type PaymentQuery } from "../operations/reading/list-payments.js";
import { type ResolvedOptions } from "./options/resolve-options.js";
import { type PaymentKey } from "../operations/reading/find-payment.js";
import { type Figures, type FiguresQuery } from "../operations/reading/payment-figures.js";
import { type HistoryQuery } from "../operations/reading/history-page.js";
import { type PaymentHistory } from "../operations/reading/payment-history.js";
import { type PaymentRequest } from "../checkout/payment-request.js";
import { type Payment } from "../model/payment.js";
import { type Pruned } from "../operations/prune-records.js";
import { type WebhookRequest } from "../webhook/receive-webhook.js";
import { type Receipt } from "../webhook/recording/arrival.js";
import {
  type DispatchQuery,
  type RevivedDispatches,
  type RevivedOutcome,
} from "../operations/replay/replay-dispatches.js";
import { type Replayed, type ReplayQuery } from "../operations/replay/replay-webhooks.js";
import { type Resolution, type Resolved } from "../operations/resolution/resolution.js";
import { type SqlPart, type SqlStoreOrStoreOver } from "./options/options.js";
import { type StatementOptions, type StatementRows, type StatementRun } from "../statement/index.js";
import { type SignedField } from "../model/signed-fields.js";
import { type Swept } from "../operations/sweep/sweep-payments.js";
import { type Logger } from "pino";

/**
 * The kit's interface. {@link createPayments} makes it, and `paymentRouter` mounts it.
 *
 * `Covers` are the webhook fields that the signature covers; `Tx` is the store's transaction.
 */
export interface Payments<Covers extends SignedField = SignedField, Tx = unknown> {
  /**
   * Creates a payment at the service and resolves to the address where the customer pays. During
   * `reuseForMs`, a second call with the same reference and amount returns the open attempt.
   *
   * @throws TillkitError `reference_invalid`, `amount_invalid`, `currency_invalid`, `client_id_invalid`,
   * `metadata_invalid`, `locale_invalid`, `option_invalid`: nothing was stored or sent. `already_paid`,
   * `paid_other_amount`, `client_id_taken`, `creation_pending_elsewhere`: nothing was sent.
   * @throws PaymentCreationError if the service refused the payment, or gave no clear answer; see its
   * `certainty`.
   */
  create(request: PaymentRequest): Promise<CreatedPayment>;
  /**
   * Stores a payment that other code created at the service. Later webhooks of the payment are matched from
   * now on, and earlier ones are matched in this call. A second call with the same values changes nothing.
   *
   * @throws TillkitError `reference_invalid`, `amount_invalid`, `currency_invalid`, `client_id_invalid`,
   * `metadata_invalid`, `service_id_invalid`, `service_id_taken`, `adoption_conflict`, `option_invalid`,
   * `resolution_invalid`: nothing was changed.
   */
  adopt(adoption: Adoption): Promise<AdoptedPayment>;
  /**
   * Stores a person's decision about a payment or a webhook. The decision completes the payment, fulfils its
   * order, records a refund, or records that nothing needs to be done. The history shows who decided, when
   * and why.
   *
   * @throws TillkitError `resolution_invalid`, `resolution_not_possible`, `evidence_missing`,
   * `evidence_invalid`, `evidence_mismatch`: nothing was changed.
   */
  resolve(resolution: Resolution): Promise<Resolved>;
  /**
   * Compares a settlement statement with the stored payments. Finds payments that are missing on one side,
   * differ, or were paid twice. Changes nothing. `readStatement` of `tillkit/statement` reads the rows of a
   * CSV file.
   *
   * @throws TillkitError `option_invalid`. The run rejects with `statement_unreadable`,
   * `statement_columns_unclear` or `statement_period_missing`.
   */
  compareStatement(rows: StatementRows, options?: StatementOptions): StatementRun;
  /**
   * Resolves to the stored payment with this clientId, serviceId or providerId, or to `undefined`. If no
   * payment has the providerId, resolves to the payment whose customer has given this number.
   *
   * @throws TillkitError `query_invalid` for an invalid key, or if several payments have the providerId
   */
  find(key: PaymentKey): Promise<Payment | undefined>;
  /**
   * Resolves to one page of payments, selected by state, reference, providerId, time of creation and other
   * conditions. The newest payments come first by default.
   *
   * @throws TillkitError `query_invalid`
   */
  list(query?: PaymentQuery): Promise<PaymentList>;
  /**
   * Resolves to everything that happened to one clientId, oldest first: webhooks, decisions, dispatches,
   * returns and resolutions. A page has at most 1,000 entries of each kind, and the first page has the
   * newest. Support reads the history when a customer calls. A clientId without a stored payment has a
   * history too, if webhooks name the clientId.
   *
   * @throws TillkitError `query_invalid`
   */
  history(clientId: string, query?: HistoryQuery): Promise<PaymentHistory>;
  /**
   * Resolves to the number of payments that were created and completed, by channel, and how long they usually
   * take. Reads at most the newest 20,000 payments of the period.
   *
   * @throws TillkitError `query_invalid`
   */
  figures(query: FiguresQuery): Promise<Figures>;
  /**
   * Decides stored webhooks or a refused webhook again, on the payments as they are now. By default, the call
   * is a dry run, which only reports the changes.
   *
   * @throws TillkitError `query_invalid`; `resolution_invalid` for the person or the reason
   * @throws WebhookRejectedError if `refused` fails the verification
   */
  replay(query?: ReplayQuery): Promise<Replayed>;
  /**
   * Runs one or many dead dispatches again. By default, the call only reports these dispatches.
   *
   * @throws TillkitError `query_invalid`
   */
  replayDispatches(query?: DispatchQuery): Promise<RevivedDispatches>;
  /**
   * Resolves to the results of the dispatches that a run of {@link Payments.replayDispatches} has revived.
   *
   * @throws TillkitError `query_invalid`
   */
  revivedDispatches(run: string): Promise<RevivedOutcome>;

  /** Adds a handler of `payment.completed`, which fulfils the order. See {@link Payments.on}. */
  onPaymentCompleted(handler: Handler<"payment.completed", Covers, Tx>, options?: HandlerOptions): void;
  /**
   * Adds a handler of a durable event, or a listener for a notice of this process: see {@link NoticeMap}. Add
   * handlers before the first webhook arrives, because a name that is new to the store gets only events that
   * are recorded from then on. A listener of a notice takes no `options`.
   *
   * @throws TillkitError `handler_name_taken` for a second handler of an event without a name of its own;
   * `option_invalid`
   */
  on<Type extends EventType | NoticeType>(
    type: Type,
    handler: [Type] extends [EventType]
      ? Handler<Type, Covers, Tx>
      : NoticeListener<Extract<Type, NoticeType>>,
    options?: [Type] extends [EventType] ? HandlerOptions : undefined,
  ): void;
  /** Adds a handler of every durable event. The name of the handler is `any` by default. */
  onAny(handler: Handler<EventType, Covers, Tx>, options?: HandlerOptions): void;

  /**
   * Opens the store and starts to dispatch. The router calls this method. A worker without HTTP must call it
   * itself, and runs until {@link Payments.close}. Rejects if the store cannot be opened now, but the kit
   * keeps trying.
   */
  start(options?: { keepAlive?: boolean }): Promise<void>;
  /**
   * Stops dispatching, waits at most 10 s for running handlers, releases claims and closes the store. If a
   * part fails to close, still closes the others, and then rejects with the first error. A call during a
   * close waits for this close.
   */
  close(): Promise<void>;

  /** Receives one webhook, for frameworks other than Express. The router calls this method. */
  receiveWebhook(this: void, request: WebhookRequest): Promise<Receipt>;
  /** Handles one browser that came back, for frameworks other than Express. */
  handleReturn(this: void, request: ReturnRequest): Promise<ReturnView | undefined>;
  /**
   * Keeps the number that a customer gives for a payment that is not confirmed, for an application's own
   * pages. The number does not change the state of the payment. The caller must limit how often a customer
   * may give a number. Resolves to `undefined` for a token that is forged, unknown or expired.
   */
  claimPaid(this: void, request: PaymentClaimRequest): Promise<PaymentClaimOutcome | undefined>;
  /** Sends a notice to the listeners of this process, for frameworks other than Express. */
  notify<Type extends NoticeType>(this: void, type: Type, notice: NoticeMap[Type]): void;
  /**
   * Looks up payments that are due, and raises events about overdue payments, waiting webhooks and open
   * entries. The kit does this every `sweepMs`. A call during a sweep of this process gets the result of that
   * sweep.
   */
  sweep(): Promise<Swept>;

  /**
   * Resolves to the health, for a readiness probe or a person on call. Never rejects. A call during a check
   * of this process gets the result of that check.
   */
  health(): Promise<Health>;
  /**
   * Resolves to one page of entries that need a person: the problem, its beginning, and the next step. The
   * most urgent rule comes first, and within a rule the oldest entry. Reads only indexes, even if many
   * payments are stored.
   *
   * @throws TillkitError `query_invalid`
   */
  attention(query?: AttentionQuery): Promise<AttentionList>;
  /**
   * Assigns, snoozes or settles an entry of {@link Payments.attention}, or adds a note to the entry. The
   * history of the payment shows who acted, when and why. A repeated call changes nothing.
   *
   * @throws TillkitError `resolution_invalid`; `resolution_not_possible` if the entry is closed, or its cause
   * must end in another way; `store_conflict` if another person was faster (the message shows that person's
   * change).
   */
  attend(id: string, action: AttentionAction): Promise<AttendedEntry>;
  /** Resolves to the handlers in the store, with the numbers of their dispatches and people's decisions. */
  handlers(): Promise<HandlerStatus[]>;
  /**
   * Pauses a handler in all processes, within one poll. The events of the handler wait, and use no attempt.
   * Runs that have started end as usual, and webhooks arrive as before. A second call returns the present
   * pause.
   *
   * @throws TillkitError `option_invalid`, `handler_unknown`
   */
  pauseHandler(name: string, options: PauseOptions): Promise<ControlledHandler>;
  /**
   * Lets a paused handler run again, with the oldest event first.
   *
   * @throws TillkitError `option_invalid`, `handler_unknown`
   */
  resumeHandler(name: string, options: ResumeOptions): Promise<ControlledHandler>;
  /**
   * Limits the runs of a handler per second, over all processes. The runs of one second may begin at the same
   * time.
   *
   * @throws TillkitError `option_invalid`, `handler_unknown`
   */
  limitHandler(name: string, options: LimitOptions): Promise<ControlledHandler>;
  /**
   * Retires a handler name that no process registers any more. Later events get no dispatch for this name.
   * Dispatches that are not done, including dead ones, become `retired`, and never run again. A current run
   * is rolled back, unless it commits first. Resolves to the number of retired dispatches. Logs a warning if
   * the store does not have the name. The call may be repeated. With `event`, retires only the name's
   * registration for that event. Use `event` if the handler with this name now handles other events.
   *
   * @throws TillkitError `handler_registered` if this process has a handler of that name; `option_invalid`
   */
  retireHandler(name: string, options?: RetireHandlerOptions): Promise<number>;
  /**
   * Deletes raw bodies of final webhooks, and events whose dispatches are done or retired, if they were
   * recorded before `before`. Keeps payments, eventKeys, and everything that is parked, unsettled, undone or
   * dead.
   *
   * @throws TillkitError `query_invalid`
   */
  prune(options: { before: Date }): Promise<Pruned>;
  /**
   * Writes a backup of a SQLite database to a new file, while the shop continues to run. Resolves to the size
   * in bytes when the backup is durable. A file with this name is always complete.
   *
   * @throws TillkitError `backup_refused` if the file exists, or the database has its own tool;
   * `backup_failed`, `store_unavailable`, `backup_unsupported`.
   */
  backup(file: string): Promise<{ bytes: number }>;

  /** The store in use. A SQL store has `query` for reads outside of transactions. */
  readonly store: SqlStoreOrStoreOver<Tx> & SqlPart<Tx>;
  /** The options with every default filled in. */
  readonly options: ResolvedOptions<Covers, Tx>;
  /** The logger in use. With `logger: false`, it writes nothing. */
  readonly logger: Logger;
}
