import { hasCode, PaymentCreationError } from "tillkit";

/** Why a customer could not be sent to the checkout. */
export type Problem = "alreadyPaid" | "held" | "busy" | "refused" | "uncertain" | "unavailable";

/** Returns what an error of `payments.create` means for the customer; `undefined` for a fault of the shop itself. */
export function problemOf(error: unknown): Problem | undefined {
  if (hasCode(error, "already_paid")) return "alreadyPaid";
  if (hasCode(error, "paid_other_amount")) return "held";
  if (hasCode(error, "creation_pending_elsewhere")) return "busy";
  if (!(error instanceof PaymentCreationError)) return undefined;
  // The payment may exist: nothing may say that nothing was charged.
  if (error.certainty === "uncertain") return "uncertain";
  return error.code === "creation_refused" ? "refused" : "unavailable";
}
