/** Counts working tasks, and tasks that wait for the clock. A task at a closed gate counts as neither. */
export class Activity {
  #working = 0;
  #waiting = 0;
  readonly #whenQuiet: (() => void)[] = [];
  readonly #whenIdle: (() => void)[] = [];

  /** Runs a task, which counts as working until it ends. */
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
    this.#notify();
  }

  /** Counts a working task as waiting for the clock. */
  beginWait(): void {
    this.#waiting += 1;
    this.leave();
  }

  /** Counts a waiting task as working. Call this method before the task continues. */
  endWait(): void {
    this.#waiting -= 1;
    this.#working += 1;
  }

  /** Resolves when no task works. Tasks may still wait for the clock. */
  quiet(): Promise<void> {
    return this.#when(this.#whenQuiet, () => this.#working === 0);
  }

  /** Resolves when no task works, and none waits for the clock. */
  idle(): Promise<void> {
    return this.#when(this.#whenIdle, () => this.#working + this.#waiting === 0);
  }

  async #when(listeners: (() => void)[], holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => listeners.push(resolve));
  }

  #notify(): void {
    if (this.#working > 0) return;
    for (const listener of this.#whenQuiet.splice(0)) listener();
    if (this.#waiting > 0) return;
    for (const listener of this.#whenIdle.splice(0)) listener();
  }
}

/** A gate for tasks. While the gate is held, tasks wait until its release. */
export class Gate {
  #waiting: (() => void)[] | undefined;

  constructor(private readonly activity: Activity) {}

  /** Whether tasks must wait at the gate. */
  get held(): boolean {
    return this.#waiting !== undefined;
  }

  hold(): void {
    this.#waiting ??= [];
  }

  release(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const resume of waiting) {
      // The task is counted before it continues, so that the sandbox does not look idle in between.
      this.activity.enter();
      resume();
    }
  }

  /** Resolves when the gate is open. A task that waits here does not count as working. */
  async pass(): Promise<void> {
    while (this.#waiting !== undefined) {
      const released = new Promise<void>((resolve) => this.#waiting!.push(resolve));
      this.activity.leave();
      await released;
    }
  }
}
