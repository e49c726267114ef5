import { type RejectionCode, WebhookRejectedError } from "../../errors/index.js";
import { type SignatureScheme, type VerifyInput } from "./scheme.js";
import { because } from "../../shared/because.js";

/**
 * Resolves if the signature is valid. Otherwise rejects with a {@link WebhookRejectedError}. After any error
 * of a scheme, the webhook is not verified, and the process does not end.
 */
export async function verifySignature(scheme: SignatureScheme, input: VerifyInput): Promise<void> {
  let verified: unknown;
  try {
    const verifying = scheme.verify(input);
    // Most schemes are synchronous, so waiting for a promise is usually not necessary.
    verified = typeof verifying === "boolean" ? verifying : await verifying;
  } catch (error) {
    throw refusalOf(error);
  }
  // Only `true` itself counts, because a scheme in JavaScript may return another truthy value.
  if (verified === true) return;
  throw new WebhookRejectedError("signature_mismatch", "The signature does not match the body.");
}

function refusalOf(error: unknown): WebhookRejectedError {
  // A scheme may not throw other codes, because these would change the HTTP status.
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

/** Returns whether the error is a refusal, by its name, because ESM and CommonJS have a class each. */
export function isRejection(error: unknown): error is WebhookRejectedError {
  return error instanceof Error && error.name === "WebhookRejectedError";
}
