import { TillkitError, type ErrorCode } from "../errors/index.js";

/** Why the service could not be asked, or its answer not be used. */
export type LookupErrorCode = Extract<ErrorCode, "lookup_failed" | "lookup_answer_invalid">;

/** A question to the service that has no usable answer. Nothing was recorded; it is asked again later. */
export class LookupError extends TillkitError {
  override readonly name = "LookupError";
  declare readonly code: LookupErrorCode;
  /** The status of the service's answer, where there was one. */
  declare readonly httpStatus?: number;
  /** How long the service asked to be left alone (`Retry-After`), in milliseconds. */
  declare readonly retryAfterMs?: number;

  constructor(
    code: LookupErrorCode,
    message: string,
    details: { cause?: unknown; httpStatus?: number; retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, details.cause === undefined ? {} : { cause: details.cause });
    if (details.httpStatus !== undefined) this.httpStatus = details.httpStatus;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
  }
}
