import { type RejectionCode, WebhookRejectedError } from "../../errors/index.js";
import { type SignatureScheme, type VerifyInput } from "./scheme.js";

/**
 * Returns, or resolves, when the signature is right, and throws or rejects with a {@link WebhookRejectedError} otherwise.
 * Whatever a scheme throws means "not verified": an error of the check must never let a webhook pass, nor end the process.
 */
export function verifySignature(scheme: SignatureScheme, input: VerifyInput): Promise<void> | undefined {
  let verified: unknown;
  try {
    verified = scheme.verify(input);
  } catch (error) {
    throw refusalOf(error);
  }
  // A scheme that answers at once is not made to wait for the end of the turn.
  if (typeof verified !== "boolean") return verifyLater(verified);
  requireTrue(verified);
  return undefined;
}

async function verifyLater(verifying: unknown): Promise<void> {
  let verified: unknown;
  try {
    verified = await verifying;
  } catch (error) {
    throw refusalOf(error);
  }
  requireTrue(verified);
}

/** Only `true` itself: a scheme written in JavaScript may answer with something merely truthy. */
function requireTrue(verified: unknown): void {
  if (verified === true) return;
  throw new WebhookRejectedError("signature_mismatch", "The signature is not that of this body.");
}

function refusalOf(error: unknown): WebhookRejectedError {
  if (isRejection(error)) return error;
  return new WebhookRejectedError("signature_check_failed", "The signature scheme threw.", { cause: error });
}

/** What a scheme may say about a signature; any other code would choose an answer that is not its to choose. */
const reasons: readonly RejectionCode[] = [
  "signature_missing",
  "signature_malformed",
  "signature_mismatch",
  "signature_check_failed",
  "signed_fields_unreadable",
];

/** By its fields and not by its class: a merchant's scheme may throw the other copy of a dual package. */
function isRejection(error: unknown): error is WebhookRejectedError {
  return (
    error instanceof Error &&
    error.name === "WebhookRejectedError" &&
    reasons.includes((error as WebhookRejectedError).code)
  );
}
