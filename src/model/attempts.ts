import { checkAmount, sameValue } from "./money.js";
import { type PaymentReport } from "./payment-report.js";
import { type Money, type Payment } from "./payment.js";

/** Returns whether the payment pays its order: a completed payment that was not withheld from the order. */
export function paysOrder({ state, withheld }: Payment): boolean {
  return state === "completed" && withheld === undefined;
}

/** Returns the payment that paid the order first. Several attempts of one order may be paid. */
export function firstPaid(attempts: readonly Payment[]): Payment | undefined {
  // A payment with `paid_twice` was not the first, even if its time is earlier, because the clocks of two
  // hosts may differ. After a person removed `paid_twice`, only the time decides.
  const placeOf = ({ attention, completedAt, clientId }: Payment): string =>
    `${attention === "paid_twice" ? 1 : 0} ${completedAt} ${clientId}`;
  return attempts.filter(paysOrder).toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))[0];
}

/**
 * Returns the last attempt that follows this payment by `replacedBy`, or the payment itself. Does not compare
 * times, because the clocks of two hosts may differ. If the last attempt is adopted, returns an attempt that
 * the kit made, if there is one. The kit may have made this attempt while the adopted payment was being
 * stored. Otherwise returns the payment that was adopted last, because only its time orders it.
 */
export function newestAttempt(payment: Payment, attempts: readonly Payment[]): Payment {
  const following = new Map(attempts.map((attempt) => [attempt.clientId, attempt]));
  let newest = payment;
  while (newest.replacedBy !== undefined) {
    const next = following.get(newest.replacedBy);
    if (!next) break;
    following.delete(newest.replacedBy);
    newest = next;
  }
  if (newest.returnKeyHash !== undefined) return newest;
  const last = attempts.filter(({ replacedBy }) => replacedBy === undefined);
  const placeOf = ({ createdAt, clientId }: Payment): string => `${createdAt} ${clientId}`;
  return (
    last.find(({ returnKeyHash }) => returnKeyHash !== undefined) ??
    last.reduce((one, other) => (placeOf(one) < placeOf(other) ? other : one), newest)
  );
}

/** Returns whether the payment has this amount. A person may have accepted another amount than its total. */
export function hasTotal(payment: Payment, total: Money): boolean {
  return sameTotal(total, payment.total) || sameTotal(total, receivedOf(payment));
}

/** Returns whether a stored payment belongs to the shop with this prefix. An adopted payment always does. */
export function isOfShop({ clientId, returnKeyHash }: Payment, clientIdPrefix = ""): boolean {
  return clientId.startsWith(clientIdPrefix) || returnKeyHash === undefined;
}

/** Returns the amount that was received for a completed payment. */
export function receivedOf({ total, received = total }: Payment): Money {
  return received;
}

/** Returns whether all money of a completed payment went back. */
export function isPaidBack(payment: Payment): boolean {
  return payment.refunded !== undefined && sameValue(payment.refunded, receivedOf(payment).value);
}

/** Returns whether two totals are the same amount of the same currency. */
export function sameTotal(a: Money, b: Money): boolean {
  return a.currency === b.currency && sameValue(a.value, b.value);
}

/** Returns the amount that a report contains, or `undefined` if it is not a valid amount. */
export function reportedTotal({ verified }: PaymentReport): Money | undefined {
  const total = { value: verified["total.value"], currency: verified["total.currency"] };
  return checkAmount(total) ? undefined : total;
}

/** Returns whether two reports of one payment contain different service ids or provider's numbers. */
export function isOtherTransfer(one: PaymentReport | undefined, other: PaymentReport | undefined): boolean {
  if (!other) return false;
  const number = numberOf(other);
  return (
    other.verified.id !== one?.verified.id || (number !== undefined && number !== (one && numberOf(one)))
  );
}

/** Returns the provider's number, even if it is not signed. No payment changes because of this number. */
function numberOf({ verified, untrusted }: Pick<PaymentReport, "verified" | "untrusted">): unknown {
  return (verified.providerId ?? untrusted.providerId) || undefined;
}
