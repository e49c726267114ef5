/** The defaults of all options. No other file holds one. */
export const defaults = {
  service: { timeoutMs: 10_000 },
  paths: { webhook: "/webhook", success: "/success", cancel: "/cancel" },
  webhook: { limitBytes: 64 * 1024, recordTimeoutMs: 3000, bodyTimeoutMs: 10_000 },
  // `burst` lets a service with a wrong secret notice it; `perMinute` lets it notice again later.
  failures: { perMinute: 60, burst: 100 },
  spool: { maxBytes: 64 * 1024 * 1024 },
  dispatch: {
    concurrency: 8,
    pollMs: 1000,
    leaseMs: 5000,
    handlerTimeoutMs: 30_000,
    maxLostLeases: 10,
    maxFailures: 12,
    firstDelayMs: 1000,
    maxDelayMs: 60 * 60 * 1000,
  },
  lookup: {
    afterMs: 2 * 60 * 1000,
    maxDelayMs: 6 * 60 * 60 * 1000,
    giveUpAfterMs: 3 * 24 * 60 * 60 * 1000,
    perSecond: 5,
    afterReturnMs: 3000,
    timeoutMs: 10_000,
  },
  health: { spoolingDownAfterMs: 5 * 60 * 1000 },
  reuseForMs: 15 * 60 * 1000,
  overdueMs: 24 * 60 * 60 * 1000,
  sweepMs: 60 * 1000,
  unmatchedAfterMs: 5 * 60 * 1000,
};
