import { maxTimerMs } from "../../shared/whole-number.js";
import { misused } from "../misused.js";
import { type Activity } from "./activity.js";

/** The sandbox's clock: it goes with the machine's, and can be put forward. */
export interface SandboxClock {
  /** The sandbox's time. */
  now(): Date;
  /**
   * Puts the clock forward. What falls due on the way (retries, delayed webhooks, slow answers) is done in its order,
   * each before the next; resolves when all of it is done. Throws `sandbox_misused` for a step back.
   */
  advance(ms: number): Promise<void>;
  /** As `advance`, to a point of time. */
  set(time: Date | string): Promise<void>;
}

interface Timer {
  at: number;
  end: () => void;
}

/** The clock itself, with what the sandbox waits for. */
export class Clock implements SandboxClock {
  readonly #base: () => Date;
  readonly #activity: Activity;
  readonly #timers = new Set<Timer>();
  readonly #onMove: () => void;
  #aheadMs = 0;
  #alarm: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(base: () => Date, activity: Activity, onMove: () => void = () => {}) {
    this.#base = base;
    this.#activity = activity;
    this.#onMove = onMove;
  }

  now(): Date {
    return new Date(this.#base().getTime() + this.#aheadMs);
  }

  /** How far it was put forward. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0)
      misused("The clock goes forward only: give milliseconds, zero or more.");
    const target = this.now().getTime() + ms;
    for (;;) {
      await this.#activity.quiet();
      const next = this.#next();
      if (next === undefined || next.at > target) break;
      this.#moveTo(next.at);
      this.#fire(next);
    }
    this.#moveTo(target);
    this.#arm();
  }

  async set(time: Date | string): Promise<void> {
    const target = new Date(time).getTime();
    if (Number.isNaN(target)) misused(`${JSON.stringify(time)} is not a time; give ISO 8601.`);
    await this.advance(target - this.now().getTime());
  }

  /** Whether the sandbox closes: what waits on does so in vain. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Begins as far ahead as an earlier run of the same sandbox ended. */
  resume(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  /** For a task that works: ends when the clock has gone so far, or at once when the sandbox closes. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0 || this.#closed) return;
    const ended = new Promise<void>((resolve) => {
      this.#timers.add({ at: this.now().getTime() + ms, end: resolve });
    });
    this.#arm();
    this.#activity.beginWait();
    await ended;
  }

  /** Ends every wait, and lets none begin. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#alarm);
    for (const timer of this.#timers) this.#fire(timer);
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer;
    return next;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#activity.endWait();
    timer.end();
  }

  #moveTo(time: number): void {
    const aheadMs = time - this.#base().getTime();
    // The machine's clock may have overtaken it in the meantime.
    if (aheadMs <= this.#aheadMs) return;
    this.#aheadMs = aheadMs;
    this.#onMove();
  }

  #arm(): void {
    clearTimeout(this.#alarm);
    const next = this.#next();
    if (next === undefined || this.#closed) return;
    const inMs = Math.min(Math.max(next.at - this.now().getTime(), 0), maxTimerMs);
    this.#alarm = setTimeout(() => {
      const now = this.now().getTime();
      for (const timer of [...this.#timers].toSorted((a, b) => a.at - b.at))
        if (timer.at <= now) this.#fire(timer);
      this.#arm();
    }, inMs);
  }
}
