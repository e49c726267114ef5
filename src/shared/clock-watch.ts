/** The maximum difference that is not a jump. Clocks are often corrected by less. */
const maxDriftMs = 10_000;

/** The time for which a jump counts as new. A wrong clock is usually corrected within this time. */
const newForMs = 60 * 60 * 1000;

/** Watches this machine's clock. */
export type ClockWatch = ReturnType<typeof watchClock>;

/**
 * Notices when this machine's clock jumps. Each call compares this clock with the monotonic clock. After the
 * machine was suspended, its clock also seems to have jumped, because the monotonic clock did not run.
 */
export function watchClock() {
  let offset = Date.now() - performance.now();
  let jump = { at: -Infinity, lastMs: 0, sumMs: 0 };

  /** Returns the newest jump of the last hour, and the sum of all jumps since an hour without a jump. */
  function look(): { lastMs: number; sumMs: number } {
    const at = performance.now();
    const lastMs = Math.round(Date.now() - at - offset);
    const known = at - jump.at < newForMs ? jump : { lastMs: 0, sumMs: 0 };
    if (Math.abs(lastMs) <= maxDriftMs) return known;
    offset += lastMs;
    jump = { at, lastMs, sumMs: known.sumMs + lastMs };
    return jump;
  }

  return {
    look,
    /**
     * Returns the time minus the sum of the jumps of `look`, if this sum is positive. Use the result for
     * decisions that are final, because a clock that was wrongly set forward must not end a wait that has
     * just started.
     */
    cautious: (now: Date) => new Date(now.getTime() - Math.max(0, look().sumMs)),
  };
}
