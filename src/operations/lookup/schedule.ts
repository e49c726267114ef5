import { type Payment } from "../../model/payment.js";

/** The times at which a payment is looked up. */
export interface LookupTimes {
  /** The age at which a payment is looked up for the first time. */
  afterMs: number;
  /** The maximum time between two lookups. */
  maxDelayMs: number;
  /** The age at which a payment is looked up for the last time. */
  giveUpAfterMs: number;
}

/** Returns whether a payment can be looked up. A failed or canceled one may still be paid. */
export function canLookUp({ state, nextLookupAt }: Payment): boolean {
  return state !== "completed" && nextLookupAt !== undefined;
}

/**
 * Returns the payment with one more counted lookup and the time of the next lookup. The time between lookups
 * doubles up to `maxDelayMs`. After the deadline, which is `giveUpAfterMs` after the creation, there is no
 * next lookup. When the service reports the payment as paid, the time between lookups and the deadline start
 * again, because a single lookup may fail. `cautiousNow` is the time without new jumps of the clock. Until it
 * reaches the deadline, no lookup is the last one.
 */
export function withNextLookup(payment: Payment, now: Date, times: LookupTimes, cautiousNow = now): Payment {
  const { afterMs, maxDelayMs, giveUpAfterMs } = times;
  const { nextLookupAt: _, ...rest } = payment;
  const lookups = (payment.lookups ?? 0) + 1;
  const { createdAt, reported } = payment;
  const paidAt = reported?.status === "completed" ? Date.parse(reported.at) : undefined;
  const deadline = (paidAt ?? Date.parse(createdAt)) + giveUpAfterMs;
  if (cautiousNow.getTime() >= deadline) return { ...rest, lookups };
  const doubled =
    paidAt === undefined ? afterMs * 2 ** Math.min(lookups, 40) : Math.max(afterMs, now.getTime() - paidAt);
  const next = now.getTime() + Math.min(doubled, maxDelayMs);
  const isBefore = now.getTime() < deadline;
  return {
    ...rest,
    lookups,
    nextLookupAt: new Date(isBefore ? Math.min(next, deadline) : next).toISOString(),
  };
}

/**
 * Returns whether the clock has jumped forward. A difference of up to one second is not a jump, because the
 * two times are read one after the other.
 */
export function isJumped(now: Date, cautious: Date): boolean {
  return now.getTime() - cautious.getTime() > 1000;
}
