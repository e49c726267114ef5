import { type Money, type Payment } from "../model/payment.js";
import { firstPaid, newestAttempt, sameTotal } from "../model/attempts.js";

/** The choice when a payment for a reference is requested, given the payments that it already has. */
export type AttemptChoice =
  /** One of them is completed: collecting again would charge the customer twice. */
  | { kind: "paid"; payment: Payment }
  /** One of them is completed with another amount than was asked for last, and nobody has settled it. */
  | { kind: "withheld"; payment: Payment; newest: Payment }
  /** An open attempt of the same amount: return its checkout address. */
  | { kind: "reuse"; payment: Payment; checkoutUrl: string }
  /** Another call is creating it now. */
  | { kind: "wait"; payment: Payment }
  /** Create a new attempt, which replaces these. They still count if they are paid later. */
  | { kind: "create"; replaced: Payment[] };

/** The times that the choice depends on. */
export interface AttemptTimes {
  now: Date;
  /** The time for which an open attempt is returned again. */
  reuseForMs: number;
  /** The maximum time of a creation. A crash has ended one that runs for longer. */
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
    // The absolute difference, because another host's clock may be ahead.
    const age = Math.abs(now.getTime() - Date.parse(open.createdAt));
    // The checkout address comes with the creation's answer, which a webhook may have overtaken.
    if (open.checkoutUrl === undefined && age < creationMs) return { kind: "wait", payment: open };
    if (open.checkoutUrl !== undefined && age < reuseForMs) {
      return { kind: "reuse", payment: open, checkoutUrl: open.checkoutUrl };
    }
  }
  return { kind: "create", replaced: ofReference.filter(({ replacedBy }) => replacedBy === undefined) };
}

/** Returns the payment as it is stored when another attempt replaces it. */
export function replacedPayment(payment: Payment, clientId: string, now: string): Payment {
  // Still `creating` means that the process which created it has ended: the result is unknown.
  const state = payment.state === "creating" ? "uncertain" : payment.state;
  return { ...payment, state, open: false, replacedBy: clientId, updatedAt: now };
}
