import { type Payment } from "../../model/payment.js";

/** When a payment is looked up. */
export interface LookupTimes {
  /** The age at which a payment is looked up for the first time. */
  afterMs: number;
  /** The wait between two lookups at most. */
  maxDelayMs: number;
  /** The age at which a payment is looked up for the last time. */
  giveUpAfterMs: number;
}

/** Returns whether a payment can be looked up. A failed or canceled one may still be paid. */
export function canLookUp({ state, nextLookupAt }: Payment): boolean {
  return state !== "completed" && nextLookupAt !== undefined;
}

/**
 * Returns the payment with one lookup more and the time of the next one. The wait doubles with each lookup, up to
 * `maxDelayMs`; after the deadline there is no next one. Both begin anew with a report that the payment is paid: the service may
 * fail at the one moment at which it is asked about it. `cautiousNow` is the time without new jumps of the clock: before it
 * has reached the deadline, no lookup is the last one.
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
