import { maxTimerMs } from "../../shared/whole-number.js";
import { throwMisuse } from "../state/misuse.js";
import { type Activity } from "./activity.js";

/** The sandbox's clock, which follows the machine's clock and can be put forward. */
export interface SandboxClock {
  /** Returns the sandbox's time. */
  now(): Date;
  /**
   * Puts the clock forward. Retries, delayed webhooks and slow responses that become due run one after the
   * other, in the order of their times. Resolves when all due tasks have ended. Throws `sandbox_misused` for
   * a step back, or for a time beyond the year 9999.
   */
  advance(ms: number): Promise<void>;
  /**
   * Puts the clock forward to a time, as `advance` does. Also throws `sandbox_misused` for an invalid time.
   */
  set(time: Date | string): Promise<void>;
}

interface Timer {
  at: number;
  end: () => void;
}

/** The clock and the timers of the tasks that wait for it. */
export class Clock implements SandboxClock {
  readonly #timers = new Set<Timer>();
  #onForward: () => void = () => {};
  #aheadMs = 0;
  #alarm: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly base: () => Date,
    private readonly activity: Activity,
  ) {}

  now(): Date {
    return new Date(this.base().getTime() + this.#aheadMs);
  }

  /** The milliseconds by which the clock was put forward. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Whether the sandbox is closing. Closing ends every wait, even before its time. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Sets the function that is called each time after the clock was put forward. */
  onForward(listener: () => void): void {
    this.#onForward = listener;
  }

  /** Restores the milliseconds by which an earlier run of the sandbox had put the clock forward. */
  restore(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0)
      throwMisuse("The clock only goes forward: give a number of milliseconds, zero or more.");
    const target = this.now().getTime() + ms;
    if (target >= Date.UTC(10_000, 0)) throwMisuse("The clock cannot go beyond the end of the year 9999.");
    for (;;) {
      await this.activity.quiet();
      const [next] = this.#timersByTime();
      if (next === undefined || next.at > target) break;
      this.#moveTo(next.at);
      this.#fire(next);
    }
    this.#moveTo(target);
    this.#arm();
  }

  async set(time: Date | string): Promise<void> {
    const target = new Date(time).getTime();
    if (Number.isNaN(target)) throwMisuse(`${JSON.stringify(time)} is not a time in ISO 8601.`);
    await this.advance(target - this.now().getTime());
  }

  /** Resolves after this time, or when the sandbox closes. The calling task must be counted as working. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0 || this.#closed) return;
    const ended = new Promise<void>((resolve) => {
      this.#timers.add({ at: this.now().getTime() + ms, end: resolve });
    });
    this.#arm();
    this.activity.beginWait();
    await ended;
  }

  /** Ends every wait. Later waits end immediately. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#alarm);
    for (const timer of this.#timers) this.#fire(timer);
  }

  #timersByTime(): Timer[] {
    return [...this.#timers].toSorted((a, b) => a.at - b.at);
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.activity.endWait();
    timer.end();
  }

  #moveTo(time: number): void {
    const aheadMs = time - this.base().getTime();
    // If the machine's clock has already passed this time, nothing changes.
    if (aheadMs <= this.#aheadMs) return;
    this.#aheadMs = aheadMs;
    this.#onForward();
  }

  #arm(): void {
    clearTimeout(this.#alarm);
    const [next] = this.#timersByTime();
    if (next === undefined || this.#closed) return;
    const delayMs = Math.min(Math.max(next.at - this.now().getTime(), 0), maxTimerMs);
    this.#alarm = setTimeout(() => {
      const now = this.now().getTime();
      for (const timer of this.#timersByTime()) if (timer.at <= now) this.#fire(timer);
      this.#arm();
    }, delayMs);
  }
}
