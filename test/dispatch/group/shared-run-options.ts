import { type PaymentStore } from "tillkit";

/** Returns the options of the runs of a handler with shared transactions, with this lease. */
export function sharedRunOptions<Tx>(store: PaymentStore<Tx>, leaseMs = 60_000) {
  return {
    store,
    leaseMs,
    handlerTimeoutMs: 60_000,
    maxLostLeases: 3,
    retry: { maxFailures: 5, firstDelayMs: 1000, maxDelayMs: 60_000 },
    losses: new Map<string, number>(),
    onHanging: () => {},
    isShared: true,
  };
}
