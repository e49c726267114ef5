import { type ErrorCode } from "./codes.js";
import { TillkitError } from "./tillkit-error.js";

/** The refusals of a webhook and the HTTP status each is answered with. */
export const rejectionStatus = {
  method_not_allowed: 405,
  content_type_unsupported: 415,
  content_encoding_unsupported: 415,
  body_too_large: 413,
  body_incomplete: 400,
  body_timeout: 408,
  raw_body_consumed: 500,
  signature_missing: 401,
  signature_malformed: 401,
  signature_mismatch: 401,
  signature_check_failed: 401,
  signed_fields_unreadable: 400,
  record_unavailable: 503,
} as const satisfies Partial<Record<ErrorCode, number>>;

/** Why a webhook was refused. */
export type RejectionCode = keyof typeof rejectionStatus;

/** A webhook was refused: nothing was recorded and no handler runs. */
export class WebhookRejectedError extends TillkitError {
  override readonly name = "WebhookRejectedError";
  declare readonly code: RejectionCode;
  /** The HTTP status to answer with. */
  readonly status: number;

  constructor(code: RejectionCode, message: string, options: { cause?: unknown } = {}) {
    super(code, message, options);
    this.status = rejectionStatus[code];
  }
}
