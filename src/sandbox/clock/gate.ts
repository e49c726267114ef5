import { type Activity } from "./activity.js";

/** Lets everybody through, unless it is held: then they wait for the release. */
export class Gate {
  #waiting: (() => void)[] | undefined;
  readonly #activity: Activity;

  constructor(activity: Activity) {
    this.#activity = activity;
  }

  get held(): boolean {
    return this.#waiting !== undefined;
  }

  hold(): void {
    this.#waiting ??= [];
  }

  release(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const letThrough of waiting) {
      // Before they run, so that nobody finds the sandbox settled in between.
      this.#activity.enter();
      letThrough();
    }
  }

  /** For a task that works; it does not count as one while it waits here. */
  async passed(): Promise<void> {
    while (this.#waiting !== undefined) {
      const released = new Promise<void>((resolve) => this.#waiting!.push(resolve));
      this.#activity.leave();
      await released;
    }
  }
}
