/** How failing handlers are tried again. */
export interface RetryOptions {
  /** Runs that may fail before the dispatch is dead. @default 12 */
  maxFailures: number;
  /** Wait after the first failure; doubles with each. @default 1000 */
  firstDelayMs: number;
  /** Longest wait. @default 3600000 (one hour) */
  maxDelayMs: number;
}

/**
 * The wait before the next run: exponential, with half of it drawn at random so that dispatches which failed
 * together do not come back together. `random` is in [0, 1).
 */
export function retryDelay(
  failures: number,
  { firstDelayMs, maxDelayMs }: Pick<RetryOptions, "firstDelayMs" | "maxDelayMs">,
  random: () => number = Math.random,
): number {
  const full = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 40));
  return Math.round(full / 2 + (full / 2) * random());
}
