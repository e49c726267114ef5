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
    // Every waiting call adds a listener. Zero means no limit, so Node does not warn of too many listeners.
    setMaxListeners(0, signal);
  }

  /** Resolves to `true` when the caller may continue, and to `false` when the signal has aborted. */
  async acquire(): Promise<boolean> {
    let at = this.#nextPlace();
    while (!this.#signal.aborted) {
      const now = performance.now();
      // A timer may fire early, and cannot be shorter than a millisecond, so a shorter wait is skipped.
      if (at - now < 1 && !this.isHeld()) break;
      // Calls that waited already when the hold began are also made one after the other after the hold.
      if (at < this.#heldUntil) at = this.#nextPlace();
      await pause(Math.max(at - now, 1), undefined, { signal: this.#signal, ref: false }).catch(() => {});
    }
    return !this.#signal.aborted;
  }

  /** Allows no call for this many milliseconds. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
    this.#next = Math.max(this.#next, this.#heldUntil);
  }

  /** Returns the time at which the next call may be made, and reserves it. */
  #nextPlace(): number {
    const at = Math.max(performance.now(), this.#next);
    this.#next = at + this.#gapMs;
    return at;
  }

  /** Returns whether calls are held. */
  isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }
}
