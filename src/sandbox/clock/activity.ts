/**
 * Counts what the sandbox is busy with. A task works, or waits for the clock; a webhook that is held does neither,
 * because whoever holds it may wait for the others.
 */
export class Activity {
  #working = 0;
  #waiting = 0;
  readonly #whenQuiet: (() => void)[] = [];
  readonly #whenIdle: (() => void)[] = [];

  /** Runs a task that counts as work until it has ended. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  enter(): void {
    this.#working += 1;
  }

  leave(): void {
    this.#working -= 1;
    this.#tell();
  }

  /** A working task begins to wait for the clock. */
  beginWait(): void {
    this.#waiting += 1;
    this.leave();
  }

  /** It works again; called by whoever ends the wait, so that nobody sees a moment of rest in between. */
  endWait(): void {
    this.#waiting -= 1;
    this.#working += 1;
  }

  /** Resolves when nothing works: what is left waits for the clock. */
  quiet(): Promise<void> {
    return this.#when(this.#whenQuiet, () => this.#working === 0);
  }

  /** Resolves when nothing works and nothing waits. */
  idle(): Promise<void> {
    return this.#when(this.#whenIdle, () => this.#working + this.#waiting === 0);
  }

  async #when(listeners: (() => void)[], holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => listeners.push(resolve));
  }

  #tell(): void {
    if (this.#working > 0) return;
    for (const listener of this.#whenQuiet.splice(0)) listener();
    if (this.#waiting > 0) return;
    for (const listener of this.#whenIdle.splice(0)) listener();
  }
}
