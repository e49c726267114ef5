/** Something that waits. */
export interface Waiting {
  /** Since when, in milliseconds by the steady clock (`performance.now()`). */
  readonly since: number;
}

/**
 * One deadline for each that waits, the same time away for all of them: so the oldest is the first to be late, and one timer,
 * which stays when nobody waits, does for all. A timer for each cost 2 µs of every webhook, twice.
 */
export class Deadlines<Item extends Waiting> {
  /** In the order in which they came. */
  readonly #waiting = new Set<Item>();
  readonly #ms: number;
  readonly #onLate: (item: Item) => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLate called once for each that still waits after `ms` milliseconds; it waits no more */
  constructor(ms: number, onLate: (item: Item) => void) {
    this.#ms = ms;
    this.#onLate = onLate;
  }

  add(item: Item): void {
    this.#waiting.add(item);
    if (this.#waiting.size > 1) return;
    if (this.#timer) this.#timer.ref();
    else this.#watch(item);
  }

  delete(item: Item): void {
    // Nobody waits: the timer must not keep the process from ending.
    if (this.#waiting.delete(item) && this.#waiting.size === 0) this.#timer?.unref();
  }

  #watch({ since }: Item): void {
    // Whole milliseconds: Node keeps a list for each duration that there is.
    this.#timer = setTimeout(() => this.#look(), Math.ceil(since + this.#ms - performance.now()));
  }

  #look(): void {
    this.#timer = undefined;
    const latest = performance.now() - this.#ms;
    for (const item of this.#waiting) {
      if (item.since > latest) break;
      this.#waiting.delete(item);
      this.#onLate(item);
    }
    const [oldest] = this.#waiting;
    if (oldest && !this.#timer) this.#watch(oldest);
  }
}
