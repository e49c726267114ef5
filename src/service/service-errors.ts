import { TillkitError, type ErrorCode } from "../errors/index.js";

/** The base class of the errors of the service's client. */
class ServiceError extends TillkitError {
  /** The status of the service's answer, if there was one. */
  declare readonly httpStatus?: number;

  constructor(
    code: ErrorCode,
    message: string,
    { cause, httpStatus }: { cause?: unknown; httpStatus?: number | undefined },
  ) {
    super(code, message, cause === undefined ? {} : { cause });
    if (httpStatus !== undefined) this.httpStatus = httpStatus;
  }
}

/** The codes of a creation that ended without a usable answer. */
export type CreationErrorCode = Extract<
  ErrorCode,
  | "creation_timeout"
  | "creation_unreachable"
  | "creation_refused"
  | "creation_failed"
  | "creation_response_invalid"
  | "creation_unrecorded"
  | "access_token_unavailable"
  | "access_token_refused"
>;

/**
 * - `failed`: the service certainly made no payment, so another attempt is safe.
 * - `uncertain`: the service may have made a payment. Webhooks must still match the payment, and the creation
 *   must never be sent again.
 */
export type CreationCertainty = "failed" | "uncertain";

/** The facts about a creation that failed. */
export interface CreationErrorDetails {
  /** Whether the payment may exist at the service. */
  certainty: CreationCertainty;
  /** The HTTP status of the service's answer, if there was one. */
  httpStatus?: number | undefined;
  /** The message in the service's answer, which is untrusted. */
  serviceMessage?: string | undefined;
  /**
   * The error that caused this error, for example an error of the connection, of the token or of the store.
   */
  cause?: unknown;
}

/** The error of a creation without a usable answer. No message of this error contains a token. */
export class PaymentCreationError extends ServiceError {
  override readonly name = "PaymentCreationError";
  declare readonly code: CreationErrorCode;
  /** Whether the payment may exist at the service. */
  readonly certainty: CreationCertainty;
  /** `title` and `detail` of the service's answer: untrusted text of at most 500 characters. */
  declare readonly serviceMessage?: string;

  constructor(code: CreationErrorCode, message: string, details: CreationErrorDetails) {
    super(code, message, details);
    this.certainty = details.certainty;
    if (details.serviceMessage !== undefined) this.serviceMessage = details.serviceMessage;
  }
}

/** The codes of a lookup that failed, or whose answer cannot be used. */
export type LookupErrorCode = Extract<ErrorCode, "lookup_failed" | "lookup_answer_invalid">;

/** The error of a lookup without a usable answer. Nothing was recorded. The next lookup asks again. */
export class LookupError extends ServiceError {
  override readonly name = "LookupError";
  declare readonly code: LookupErrorCode;
  /** The wait that the service asked for (`Retry-After`), in milliseconds. */
  declare readonly retryAfterMs?: number;

  constructor(
    code: LookupErrorCode,
    message: string,
    details: { cause?: unknown; httpStatus?: number; retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, details);
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
  }
}
