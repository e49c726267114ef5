import { type IncomingMessage, type ServerResponse } from "node:http";
import { type RejectionCode } from "../errors/index.js";
import { replyJson } from "./reply.js";

/** What is said to a sender, by status. */
const words: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "signature_invalid",
  405: "method_not_allowed",
  408: "body_timeout",
  413: "body_too_large",
  415: "unsupported_media_type",
  429: "too_many_failures",
  500: "internal_error",
  503: "unavailable",
};

/** Refusals of a body that was not verified: what somebody who tries signatures gets. */
const failures: readonly RejectionCode[] = [
  "signature_missing",
  "signature_malformed",
  "signature_mismatch",
  "signature_check_failed",
  "signed_fields_unreadable",
];

/** Whether such a refusal is counted against its sender's address. */
export function isFailure(code: RejectionCode): boolean {
  return failures.includes(code);
}

/** One constant body per status: a sender learns nothing about why a signature did not hold. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, retryAfter }: { status: number; retryAfter: number | undefined },
): void {
  if (response.headersSent || response.destroyed) return;
  // What is left of a body that was not read would be taken for the next request.
  const close: Record<string, string> = request.complete ? {} : { Connection: "close" };
  const allow: Record<string, string> = status === 405 ? { Allow: "POST" } : {};
  const retry: Record<string, string> = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  replyJson(response, status, { error: words[status] }, { ...close, ...allow, ...retry });
}
