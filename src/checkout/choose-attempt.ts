import { type Money, type Payment } from "../model/payment.js";
import { firstPaid, newestAttempt, sameTotal } from "../model/attempts.js";

/**
 * The kit's choice for a requested payment. The choice depends on the stored payments of the same reference.
 */
export type AttemptChoice =
  /** A stored payment is completed. Another payment would charge the customer twice. */
  | { kind: "paid"; payment: Payment }
  /**
   * A stored payment was paid, but the newest attempt asks for another amount. No person has settled the
   * case.
   */
  | { kind: "withheld"; payment: Payment; newest: Payment }
  /** An open attempt has the same amount, so its checkout address is returned. */
  | { kind: "reuse"; payment: Payment; checkoutUrl: string }
  /** Another call is creating the open attempt now. */
  | { kind: "wait"; payment: Payment }
  /** A new attempt is created, which replaces these payments. A replaced payment can still be completed. */
  | { kind: "create"; replaced: Payment[] };

/** The times that the choice depends on. */
export interface AttemptTimes {
  now: Date;
  /** The time for which an open attempt is returned again. */
  reuseForMs: number;
  /** The maximum time of a creation. If a creation takes longer, its process counts as crashed. */
  creationMs: number;
}

/** Chooses between the open attempt and a new one. Does no I/O. */
export function chooseAttempt(
  ofReference: readonly Payment[],
  total: Money,
  { now, reuseForMs, creationMs }: AttemptTimes,
): AttemptChoice {
  const paid = firstPaid(ofReference);
  if (paid) return { kind: "paid", payment: paid };
  const withheld = ofReference.find((payment) => payment.withheld === "unsettled");
  if (withheld) return { kind: "withheld", payment: withheld, newest: newestAttempt(withheld, ofReference) };

  const open = ofReference.find((payment) => payment.open);
  if (open && sameTotal(open.total, total)) {
    // The age is an absolute difference, because another host's clock may be ahead.
    const age = Math.abs(now.getTime() - Date.parse(open.createdAt));
    // The checkout address comes with the service's answer. The state does not show whether the answer came,
    // because a webhook may change the state before the answer.
    if (open.checkoutUrl === undefined && age < creationMs) return { kind: "wait", payment: open };
    if (open.checkoutUrl !== undefined && age < reuseForMs) {
      return { kind: "reuse", payment: open, checkoutUrl: open.checkoutUrl };
    }
  }
  return { kind: "create", replaced: ofReference.filter(({ replacedBy }) => replacedBy === undefined) };
}

/** Returns the payment as replaced by another attempt. */
export function replacedPayment(payment: Payment, clientId: string, now: string): Payment {
  // A payment in the state `creating` has no result yet. The process that created the payment may have ended,
  // so the payment counts as uncertain. A result that comes later is still stored.
  const state = payment.state === "creating" ? "uncertain" : payment.state;
  return { ...payment, state, open: false, replacedBy: clientId, updatedAt: now };
}
