/** An item with a deadline, and its neighbours in the list of {@link Deadlines}. */
export interface Waiting {
  /** The time at which the item started to wait: milliseconds of `performance.now()`. */
  readonly since: number;
  older?: this | undefined;
  newer?: this | undefined;
}

/**
 * The deadlines of many items that may all wait equally long. The oldest item is late first, so one
 * timer is enough for all. The items are a linked list in the order of their arrival, which is cheaper than a
 * set; see "Timers" in bench/README.md.
 */
export class Deadlines<Item extends Waiting> {
  readonly #ms: number;
  readonly #onLate: (item: Item) => void;
  #oldest: Item | undefined;
  #newest: Item | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param onLate is called once for each item that waited for `ms` milliseconds, after it was removed from
   * the list
   */
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

  /** Iterates over the items that wait, the oldest first. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let item = this.#oldest; item; item = item.newer) yield item;
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
    // If no item waits, the timer must not keep the process alive.
    if (!this.#oldest) this.#timer?.unref();
  }

  #watch({ since }: Item): void {
    // The time is a whole number of milliseconds, because Node keeps a list of timers for each duration.
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
