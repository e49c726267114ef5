// The kit, put together and mounted.
export { createPayments, type Payments } from "./payments.js";
export { paymentRouter, type InlineOptions, type PaymentRouter } from "./http/payment-router.js";
export { createExpressServer, type ExpressApplication } from "./http/create-express-server.js";
export { captureRawBody } from "./http/raw-body.js";
export {
  type DispatchOptions,
  type FailureOptions,
  type PaymentsOptions,
  type ResolvedOptions,
  type ReturnOptions,
  type SpoolDirectoryOptions,
  type WebhookOptions,
} from "./options.js";
export { type LookupOptions } from "./lookup-options.js";
export { optionsFromEnvironment } from "./options-from-environment.js";

// Out: creating a payment.
export { type CreatedPayment } from "./create-payment.js";
export { type AdoptedPayment, type Adoption } from "./adopt-payment.js";
export { type Resolution, type Resolved } from "./resolve-payment.js";
export { type PaymentList, type PaymentQuery } from "./list-payments.js";
export { type HistoryEntry, type PaymentHistory } from "./payment-history.js";
export { type DispatchQuery, type RevivedDispatches } from "./replay-dispatches.js";
export { type ReplayChange, type Replayed, type ReplayQuery } from "./replay-webhooks.js";
export { type PaymentRequest } from "./payment-request.js";
export { type Money, type Payment, type PaymentState } from "./payment.js";
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

// In: receiving a webhook.
export { type WebhookRequest } from "./receive-webhook.js";
export { type Receipt } from "./recording/plan-group.js";
export * from "./signature/index.js";
export * from "./event/index.js";

// Back: the customer's browser.
export { type ReturnKind, type ReturnRequest, type ReturnState, type ReturnView } from "./handle-return.js";

// Keeping and dispatching.
export * from "./store/index.js";
export { type Handler, type HandlerContext, type HandlerOptions } from "./dispatch/handler.js";
export { type NoticeListener } from "./dispatch/notices.js";
export { type RetryOptions } from "./dispatch/retry-delay.js";

export { type Health, type Rejections, type SpoolHealth } from "./health.js";
export { type Pruned } from "./prune-records.js";
export { type Swept } from "./sweep-payments.js";

// The statement.
export * from "./statement/index.js";

// Errors.
export * from "./errors/index.js";
