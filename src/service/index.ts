export { type AccessToken, type AccessTokenRequest, type AccessTokenSource } from "./access-token.js";
export { clientCredentials, type ClientCredentialsOptions } from "./client-credentials.js";
export { type ServicePayment } from "./creation-answer.js";
export { createPaymentReader, type PaymentReader, type ShownPayment } from "./payment-reader.js";
export { createPaymentService, type CreatePaymentRequest, type PaymentService } from "./payment-service.js";
export {
  type CreationCertainty,
  type CreationErrorCode,
  type CreationErrorDetails,
  LookupError,
  type LookupErrorCode,
  PaymentCreationError,
} from "./service-errors.js";
export { type PaymentServiceOptions } from "./service-options.js";
