import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

/** Lets so many through in a second, one after the other; the others wait for their turn. */
export class Pace {
  readonly #gapMs: number;
  readonly #signal: AbortSignal;
  #next = 0;
  #heldUntil = 0;

  /** Whoever waits when the signal aborts is let go with `false`. */
  constructor(perSecond: number, signal: AbortSignal) {
    this.#gapMs = 1000 / perSecond;
    this.#signal = signal;
    // Each that waits listens to it.
    setMaxListeners(0, signal);
  }

  /** Resolves when it is the caller's turn; `false` when there will be none. */
  async turn(): Promise<boolean> {
    const now = performance.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#gapMs;
    // Timers may be a moment early; and none is as short as a millisecond, which is therefore let go by.
    for (let left = at - now; (left >= 1 || this.isHeld()) && !this.#signal.aborted;) {
      await pause(Math.max(left, 1), undefined, { signal: this.#signal, ref: false }).catch(() => {});
      left = at - performance.now();
    }
    return !this.#signal.aborted;
  }

  /** Nobody has a turn for so long. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
    this.#next = Math.max(this.#next, this.#heldUntil);
  }

  isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }
}
