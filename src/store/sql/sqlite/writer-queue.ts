import { TillkitError } from "../../../errors/index.js";

interface Waiter {
  admit(): void;
  refuse(error: TillkitError): void;
}

/**
 * SQLite has one writer, so this process queues for it, first come first served, without blocking the event loop. A
 * queue that moves may be long; one that stands still for `patienceMs`, because the transaction at its head does not
 * end, refuses whoever has waited through it.
 */
export class WriterQueue {
  readonly #patienceMs: number;
  readonly #waiting = new Set<Waiter>();
  #heldSince: number | undefined;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Whether anybody is in line. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether nobody has the writer. */
  get isFree(): boolean {
    return this.#heldSince === undefined;
  }

  /** Resolves when the writer is free; call the answer once, at the end. */
  async enter(): Promise<() => void> {
    if (!this.isFree) await this.#wait();
    return this.take();
  }

  /** The same for whoever found it free. */
  take(): () => void {
    this.#heldSince = performance.now();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
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
        const left = this.#patienceMs - (performance.now() - standingSince);
        if (left > 0) timer = setTimeout(check, left);
        else waiter.refuse(this.#stuck());
      };
      timer = setTimeout(check, this.#patienceMs);
      this.#waiting.add(waiter);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    // Handed over without a gap: a newcomer must not slip in between.
    this.#heldSince = next ? performance.now() : undefined;
    next?.admit();
  }

  #stuck(): TillkitError {
    return new TillkitError(
      "store_busy",
      `Another transaction of this process has held the SQLite writer for more than ${this.#patienceMs} ms. ` +
        "Keep transactions short, and open none inside another.",
    );
  }
}
