/**
 * Everything that an application needs to take payments.
 *
 * @module tillkit
 */

// Creating and mounting the kit.
export { createPayments } from "./kit/create-payments.js";
export { type Payments } from "./kit/payments.js";
export {
  paymentRouter,
  returnRouter,
  webhookRouter,
  type InlineOptions,
  type PaymentRouter,
} from "./http/payment-router.js";
export { fetchHandler } from "./http/fetch-handler.js";
export { createExpressServer, type ExpressApplication } from "./http/create-express-server.js";
export { captureRawBody } from "./http/webhook/raw-body.js";
export {
  type DispatchOptions,
  type FailureOptions,
  type HealthOptions,
  type LookupOptions,
  type PartialOptions,
  type PathOptions,
  type PaymentsOptions,
  type SpoolDirectoryOptions,
  type SqlPart,
  type SqlStoreOrStoreOver,
  type WebhookOptions,
} from "./kit/options/options.js";
export { type ReturnOptions } from "./kit/options/return-options.js";
export { type ResolvedOptions } from "./kit/options/resolve-options.js";
export { optionsFromEnvironment } from "./kit/options/options-from-environment.js";

// Creating, reading and settling payments.
export { type CreatedPayment } from "./checkout/create-payment.js";
export { type AdoptedPayment, type Adoption } from "./operations/adopt-payment.js";
export { type Resolution, type Resolved } from "./operations/resolution/resolution.js";
export { type PaymentKey } from "./operations/reading/find-payment.js";
export { type PaymentList, type PaymentQuery } from "./operations/reading/list-payments.js";
export {
  type ChannelFigures,
  type Figures,
  type FiguresQuery,
  type UsualTime,
} from "./operations/reading/payment-figures.js";
export { type HistoryQuery } from "./operations/reading/history-page.js";
export { type HistoryEntry, type PaymentHistory } from "./operations/reading/payment-history.js";
export {
  type DispatchQuery,
  type RevivedDispatches,
  type RevivedOutcome,
} from "./operations/replay/replay-dispatches.js";
export { type ReplayChange } from "./operations/replay/replay-change.js";
export { type Replayed, type ReplayQuery } from "./operations/replay/replay-webhooks.js";
export { type PaymentRequest } from "./checkout/payment-request.js";
export {
  type CompletedPayment,
  type Evidence,
  type Refund,
  type LastReport,
  type Money,
  type Payment,
  type PaymentState,
  type ServiceTimes,
} from "./model/payment.js";
export {
  clientCredentials,
  LookupError,
  PaymentCreationError,
  type AccessToken,
  type AccessTokenRequest,
  type AccessTokenSource,
  type ClientCredentialsOptions,
  type CreationCertainty,
  type CreationErrorCode,
  type CreationErrorDetails,
  type LookupErrorCode,
  type PaymentServiceOptions,
} from "./service/index.js";

// Receiving webhooks. Events and notices.
export { type WebhookRequest } from "./webhook/receive-webhook.js";
export { type Receipt } from "./webhook/recording/arrival.js";
export * from "./webhook/signature/index.js";
export {
  type Difference,
  type EventMap,
  type EventType,
  eventTypes,
  type LastAsked,
  type Reported,
  type TillkitEvent,
} from "./model/event-map.js";
export { type NoticeMap, type NoticeType } from "./model/notice-map.js";
export { type ReportedFields, type Untrusted, type Verified } from "./model/payment-report.js";

// The customer's return in the browser.
export {
  type PaymentClaimOutcome,
  type PaymentClaimRequest,
  type ReturnKind,
  type ReturnRequest,
  type ReturnState,
  type ReturnView,
} from "./checkout/handle-return.js";
export { type MoreTranslations, type ReturnTranslations } from "./checkout/return-translations.js";

// Storing and dispatching.
export * from "./store/index.js";
export {
  type Handler,
  type HandlerContext,
  type HandlerOptions,
  type RetryOptions,
} from "./dispatch/handler.js";
export { type NoticeListener } from "./dispatch/notices.js";

export { type AttentionList, type AttentionQuery } from "./operations/attention/list-attention.js";
export { type AttendedEntry, type AttentionAction } from "./operations/attention/attend.js";
export {
  type AttentionChange,
  type AttentionEntry,
  type AttentionNote,
  type AttentionRule,
  attentionRules,
  type ClosedEntry,
  type PaymentNeed,
  type WebhookNeed,
} from "./model/attention.js";
export { type Health, type HealthReason, healthReasonCodes, type SpoolHealth } from "./operations/health.js";
export { type Rejections } from "./operations/rejections.js";
export { type Pruned } from "./operations/prune-records.js";
export { type HandlerChange, type HandlerControl } from "./dispatch/handler-controls.js";
export {
  type ControlledHandler,
  type HandlerStatus,
  type LimitOptions,
  type PauseOptions,
  type ResumeOptions,
} from "./operations/handlers/control-handler.js";
export { type RetireHandlerOptions } from "./operations/retire-handler.js";
export { type Swept } from "./operations/sweep/sweep-payments.js";

// Types of the statement. The functions of the statement are in `tillkit/statement`.
export type * from "./statement/index.js";

// Errors.
export * from "./errors/index.js";
