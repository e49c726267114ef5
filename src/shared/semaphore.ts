/** Lets a fixed number of tasks run at the same time. The others wait, first come first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param permits - The number of tasks that may run at the same time. */
  constructor(permits: number) {
    this.#free = permits;
  }

  /** Runs a task as soon as a permit is free, and resolves with its result. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The permit goes directly to the next task in line, so that a new one cannot take it first.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
