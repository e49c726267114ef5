/** The maximum time between two looks at the clock. */
const maxSliceMs = 1000;

/** A timer may be this late in a process that is busy and not blocked. */
const maxDelayMs = 100;

/** With all the time that it is given back, a run ends after this many times its limit. */
const maxExtension = 10;

/**
 * Calls `onEnd` after `limitMs` in which this process could run: the time in which something blocked its event loop does not
 * count. Returns a function that prevents the call.
 */
export function startTimeLimit(limitMs: number, onEnd: () => void): () => void {
  const startedAt = performance.now();
  let lookedAt = startedAt;
  let leftMs = limitMs;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const sliceMs = Math.min(leftMs, maxSliceMs);
    timer = setTimeout(() => {
      const now = performance.now();
      leftMs -= Math.min(Math.max(now - lookedAt, sliceMs), sliceMs + maxDelayMs);
      lookedAt = now;
      if (leftMs > 0 && now - startedAt < limitMs * maxExtension) wait();
      else onEnd();
    }, sliceMs);
  };
  wait();
  return () => clearTimeout(timer);
}
