import { TillkitError, type ErrorCode } from "../errors/index.js";

/** Why a creation ended without a payment to send the customer to. */
export type CreationErrorCode = Extract<
  ErrorCode,
  | "creation_timeout"
  | "creation_unreachable"
  | "creation_refused"
  | "creation_failed"
  | "creation_response_invalid"
  | "access_token_unavailable"
  | "access_token_refused"
>;

/**
 * `failed`: the service certainly made no payment, so another attempt is safe. `uncertain`: it may have made one;
 * keep the attempt matchable and never send it again.
 */
export type CreationCertainty = "failed" | "uncertain";

/** What is known about a creation that went wrong. */
export interface CreationErrorDetails {
  certainty: CreationCertainty;
  httpStatus?: number | undefined;
  serviceMessage?: string | undefined;
  cause?: unknown;
}

/**
 * The service did not answer a creation with a usable payment. What went wrong is in `code`; what is known about the
 * payment is in `certainty`. No message carries a token.
 */
export class PaymentCreationError extends TillkitError {
  override readonly name = "PaymentCreationError";
  declare readonly code: CreationErrorCode;
  /** Whether the payment may exist at the service all the same. */
  readonly certainty: CreationCertainty;
  /** The status of the service's answer, where there was one. */
  declare readonly httpStatus?: number;
  /** The service's own words (`title` and `detail` of its answer): untrusted text of at most 500 characters. */
  declare readonly serviceMessage?: string;

  constructor(code: CreationErrorCode, message: string, details: CreationErrorDetails) {
    super(code, message, details.cause === undefined ? {} : { cause: details.cause });
    this.certainty = details.certainty;
    if (details.httpStatus !== undefined) this.httpStatus = details.httpStatus;
    if (details.serviceMessage !== undefined) this.serviceMessage = details.serviceMessage;
  }
}
