/** Something that waits, and who waits beside it. */
export interface Waiting {
  /** Since when, in milliseconds by the steady clock (`performance.now()`). */
  readonly since: number;
  older?: this | undefined;
  newer?: this | undefined;
}

/**
 * One deadline for each that waits, the same time away for all of them: so the oldest is the first to be late, and one timer,
 * which stays when nobody waits, does for all. A timer for each cost 2 µs of every webhook, twice.
 *
 * They are chained to each other, in the order in which they came: a set of them hashed each, and was made larger and smaller
 * again with every burst.
 */
export class Deadlines<Item extends Waiting> {
  readonly #ms: number;
  readonly #onLate: (item: Item) => void;
  #oldest: Item | undefined;
  #newest: Item | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLate called once for each that still waits after `ms` milliseconds; it waits no more */
  constructor(ms: number, onLate: (item: Item) => void) {
    this.#ms = ms;
    this.#onLate = onLate;
  }

  add(item: Item): void {
    const older = this.#newest;
    this.#newest = item;
    if (older) {
      older.newer = item;
      item.older = older;
      return;
    }
    this.#oldest = item;
    if (this.#timer) this.#timer.ref();
    else this.#watch(item);
  }

  delete(item: Item): void {
    const { older, newer } = item;
    const waits = older !== undefined || item === this.#oldest;
    if (!waits) return;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    item.older = undefined;
    item.newer = undefined;
    // Nobody waits: the timer must not keep the process from ending.
    if (!this.#oldest) this.#timer?.unref();
  }

  #watch({ since }: Item): void {
    // Whole milliseconds: Node keeps a list for each duration that there is.
    this.#timer = setTimeout(() => this.#look(), Math.ceil(since + this.#ms - performance.now()));
  }

  #look(): void {
    this.#timer = undefined;
    const latest = performance.now() - this.#ms;
    for (let item = this.#oldest; item && item.since <= latest; item = this.#oldest) {
      this.delete(item);
      this.#onLate(item);
    }
    if (this.#oldest && !this.#timer) this.#watch(this.#oldest);
  }
}
