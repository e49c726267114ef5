import { type RejectionCode, WebhookRejectedError } from "../../errors/index.js";
import { type SignatureScheme, type VerifyInput } from "./scheme.js";
import { because } from "../../shared/because.js";

/**
 * Resolves if the signature is right. Otherwise rejects with a {@link WebhookRejectedError}. Any error of a scheme
 * means "not verified": it never lets a webhook pass and never ends the process.
 */
export async function verifySignature(scheme: SignatureScheme, input: VerifyInput): Promise<void> {
  let verified: unknown;
  try {
    const verifying = scheme.verify(input);
    // Most schemes are synchronous, and need not wait for a promise.
    verified = typeof verifying === "boolean" ? verifying : await verifying;
  } catch (error) {
    throw refusalOf(error);
  }
  // Only `true` itself: a scheme in JavaScript may return another truthy value.
  if (verified === true) return;
  throw new WebhookRejectedError("signature_mismatch", "The signature does not match the body.");
}

function refusalOf(error: unknown): WebhookRejectedError {
  // A scheme may throw no other code, because that would change the HTTP status.
  if (isRejection(error) && isVerificationFailure(error.code)) return error;
  return new WebhookRejectedError(
    "signature_check_failed",
    `The signature scheme threw an error${because(error)}`,
    { cause: error },
  );
}

const verificationFailures: readonly RejectionCode[] = [
  "signature_missing",
  "signature_malformed",
  "signature_mismatch",
  "signature_check_failed",
  "signed_fields_unreadable",
];

/** Returns whether a webhook with this refusal was not verified. */
export function isVerificationFailure(code: RejectionCode): boolean {
  return verificationFailures.includes(code);
}

/** Compares by name, because a merchant's scheme may throw the class of the package's other copy (ESM, CommonJS). */
export function isRejection(error: unknown): error is WebhookRejectedError {
  return error instanceof Error && error.name === "WebhookRejectedError";
}
