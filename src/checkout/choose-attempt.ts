import { type Money, type Payment } from "../model/payment.js";
import { sameValue } from "../model/money.js";

/** What asking for a payment of a reference comes to, given the payments that it already has. */
export type AttemptChoice =
  /** One of them is completed: collecting again would charge the customer twice. */
  | { kind: "paid"; payment: Payment }
  /** An open attempt of the same amount: its checkout address is the answer. */
  | { kind: "reuse"; payment: Payment; checkoutUrl: string }
  /** Another call is creating it right now. */
  | { kind: "wait"; payment: Payment }
  /** A new attempt, which takes the place of these. They still count if they are paid after all. */
  | { kind: "create"; replaced: Payment[] };

/** The times that the choice depends on. */
export interface AttemptTimes {
  now: Date;
  /** How long an open attempt is handed out again. */
  reuseForMs: number;
  /** How long a creation can take; one that has been under way for longer was cut short by a crash. */
  creationMs: number;
}

/** Chooses between the open attempt and a new one. Pure. */
export function chooseAttempt(
  ofReference: readonly Payment[],
  total: Money,
  { now, reuseForMs, creationMs }: AttemptTimes,
): AttemptChoice {
  const paid = ofReference.find(({ state }) => state === "completed");
  if (paid) return { kind: "paid", payment: paid };

  const open = ofReference.find((payment) => payment.open);
  if (open && isSameTotal(open.total, total)) {
    // Either way: another host's clock may be ahead.
    const age = Math.abs(now.getTime() - Date.parse(open.createdAt));
    // The creation's answer brings the checkout address; a webhook may have overtaken it.
    if (open.checkoutUrl === undefined && age < creationMs) return { kind: "wait", payment: open };
    if (open.checkoutUrl !== undefined && age < reuseForMs) {
      return { kind: "reuse", payment: open, checkoutUrl: open.checkoutUrl };
    }
  }
  return { kind: "create", replaced: ofReference.filter(({ replacedBy }) => replacedBy === undefined) };
}

/** A payment whose place another attempt has taken. */
export function replacedPayment(payment: Payment, clientId: string, now: string): Payment {
  // Still `creating` means that the process which created it is gone: nobody knows how far it came.
  const state = payment.state === "creating" ? "uncertain" : payment.state;
  return { ...payment, state, open: false, replacedBy: clientId, updatedAt: now };
}

function isSameTotal(a: Money, b: Money): boolean {
  return a.currency === b.currency && sameValue(a.value, b.value);
}
