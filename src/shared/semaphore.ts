/** Lets so many run at once; the others wait, in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await run();
    } finally {
      // Handed over without a gap: a newcomer must not slip in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
