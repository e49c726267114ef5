/** Lets a fixed number of tasks run at the same time. Other tasks wait, first come first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param permits - The number of tasks that may run at the same time. */
  constructor(permits: number) {
    this.#free = permits;
  }

  /**
   * Runs a task as soon as a permit is free, and resolves with its result.
   *
   * @param patienceMs - The maximum wait. After this time, the task runs without a permit. @default no limit
   */
  async run<T>(task: () => Promise<T>, patienceMs = Infinity): Promise<T> {
    let hasPermit = true;
    if (this.#free > 0) this.#free--;
    else hasPermit = await this.#wait(patienceMs);
    try {
      return await task();
    } finally {
      if (hasPermit) this.#release();
    }
  }

  /** Resolves to whether a permit became free in time. */
  #wait(patienceMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        resolve(false);
      };
      const timer = patienceMs === Infinity ? undefined : setTimeout(giveUp, patienceMs);
      const begin = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      this.#waiting.push(begin);
    });
  }

  /** Gives the permit directly to the next task in line, so that a new task cannot take it first. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
