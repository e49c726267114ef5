/** Where the defaults are, and nowhere else. */
export const defaults = {
  webhook: { limitBytes: 64 * 1024, recordTimeoutMs: 3000, bodyTimeoutMs: 10_000 },
  // The first must be enough for a service with a wrong secret to learn of it, the second for it to go on learning.
  failures: { perMinute: 60, burst: 100 },
  spool: { maxBytes: 64 * 1024 * 1024 },
  dispatch: {
    concurrency: 8,
    pollMs: 1000,
    leaseMs: 10_000,
    handlerTimeoutMs: 30_000,
    maxLostLeases: 10,
    maxFailures: 12,
    firstDelayMs: 1000,
    maxDelayMs: 60 * 60 * 1000,
  },
  reuseForMs: 15 * 60 * 1000,
  overdueMs: 24 * 60 * 60 * 1000,
  sweepMs: 60 * 1000,
};
