export { createPaymentService, type CreatePaymentRequest, type PaymentService } from "./payment-service.js";
export { createPaymentReader, type PaymentReader, type ShownPayment } from "./payment-reader.js";
export { LookupError, type LookupErrorCode } from "./lookup-error.js";
export { type CreatedPayment } from "./creation-answer.js";
export { serviceProblems, type PaymentServiceOptions } from "./service-options.js";
export { type AccessToken, type AccessTokenRequest, type AccessTokenSource } from "./access-token.js";
export { clientCredentials, type ClientCredentialsOptions } from "./client-credentials.js";
export {
  PaymentCreationError,
  type CreationCertainty,
  type CreationErrorCode,
  type CreationErrorDetails,
} from "./creation-error.js";
export {
  creationRequestSchema,
  creationResponseSchema,
  type CreationRequest,
  type CreationResponse,
} from "./wire.js";
