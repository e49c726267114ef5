import { TillkitError } from "../../../errors/index.js";

interface Waiter {
  admit(): void;
  refuse(error: TillkitError): void;
}

/**
 * The queue of this process for SQLite's one writer. The first transaction that asks is served first, without
 * blocking the event loop. While transactions end, waits may be long. If one transaction has the writer for
 * `timeoutMs`, the queue refuses the transactions that have waited for this time.
 */
export class WriterQueue {
  readonly #timeoutMs: number;
  readonly #waiting = new Set<Waiter>();
  #heldSince: number | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Whether a transaction waits for the writer. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves when the writer is free, with a function that releases the writer. Call the function once. */
  async enter(): Promise<() => void> {
    if (this.#heldSince !== undefined) await this.#wait();
    this.#heldSince = performance.now();
    return () => this.#leave();
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        admit: () => (end(), resolve()),
        refuse: (error) => (end(), reject(error)),
      };
      const waitedFrom = performance.now();
      const check = (): void => {
        const standingSince = Math.max(this.#heldSince ?? 0, waitedFrom);
        const left = this.#timeoutMs - (performance.now() - standingSince);
        if (left > 0) timer = setTimeout(check, left);
        else waiter.refuse(this.#stuck());
      };
      timer = setTimeout(check, this.#timeoutMs);
      this.#waiting.add(waiter);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    // The next transaction gets the writer directly, so that a new transaction cannot take it first.
    this.#heldSince = next ? performance.now() : undefined;
    next?.admit();
  }

  #stuck(): TillkitError {
    return new TillkitError(
      "store_busy",
      `Another transaction of this process has held the SQLite writer for more than ${this.#timeoutMs} ms. ` +
        "Keep transactions short, and do not open a transaction inside another transaction.",
    );
  }
}
