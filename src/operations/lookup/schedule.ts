import { type Payment } from "../../model/payment.js";

/** The times of asking about one payment. */
export interface LookupTimes {
  /** After how long the first question is due. */
  afterMs: number;
  maxDelayMs: number;
  giveUpAfterMs: number;
}

/** Whether there is anything to ask about a payment. What failed or was canceled may still be paid. */
export function canAsk({ state, nextLookupAt }: Payment): boolean {
  return state !== "completed" && nextLookupAt !== undefined;
}

/**
 * The payment once it is being asked about: the wait doubles with each question, up to the longest one; after the deadline
 * this question was the last. Pure.
 */
export function askedAbout(payment: Payment, now: Date, times: LookupTimes): Payment {
  const { afterMs, maxDelayMs, giveUpAfterMs } = times;
  const { nextLookupAt: _, ...rest } = payment;
  const lookups = (payment.lookups ?? 0) + 1;
  const deadline = Date.parse(payment.createdAt) + giveUpAfterMs;
  if (now.getTime() >= deadline) return { ...rest, lookups };
  const delay = Math.min(afterMs * 2 ** Math.min(lookups, 40), maxDelayMs);
  const next = Math.min(now.getTime() + delay, deadline);
  return { ...rest, lookups, nextLookupAt: new Date(next).toISOString() };
}
