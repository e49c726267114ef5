import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

/** Allows a number of calls per second, one after the other; later calls wait. */
export class RateLimiter {
  readonly #gapMs: number;
  readonly #signal: AbortSignal;
  #next = 0;
  #heldUntil = 0;

  /** @param signal ends all waiting when it aborts */
  constructor(perSecond: number, signal: AbortSignal) {
    this.#gapMs = 1000 / perSecond;
    this.#signal = signal;
    // Every waiting call adds a listener.
    setMaxListeners(0, signal);
  }

  /** Resolves to `true` when the caller may go on, and to `false` when the signal has aborted. */
  async acquire(): Promise<boolean> {
    const now = performance.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#gapMs;
    // A timer may fire early, and none is shorter than a millisecond.
    for (let left = at - now; (left >= 1 || this.isHeld()) && !this.#signal.aborted;) {
      await pause(Math.max(left, 1), undefined, { signal: this.#signal, ref: false }).catch(() => {});
      left = at - performance.now();
    }
    return !this.#signal.aborted;
  }

  /** Allows no call for this many milliseconds. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
    this.#next = Math.max(this.#next, this.#heldUntil);
  }

  /** Returns whether calls are held. */
  isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }
}
