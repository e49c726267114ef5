import { type SqliteConnection } from "./connection.js";

/**
 * The maximum number of commits that wait for one sync. Without this limit, the oldest could wait endlessly.
 */
const maxWaiting = 32;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Shares syncs of the write-ahead log between commits. The log is one file, written in order, so one sync
 * also makes the earlier commits durable. If other transactions wait in the queue, a handler's transaction
 * commits without a sync, and its promise resolves after the next sync. A power failure before that undoes
 * the newest of these transactions completely. The marks "done" of these transactions are lost, too, so the
 * handlers run again.
 */
export class LogSyncs {
  readonly #writer: SqliteConnection;
  readonly #writesSomething: string;
  readonly #waiting: Waiter[] = [];
  #isSyncing = true;

  /** @param writesSomething - A statement that changes a page each time it runs. */
  constructor(writer: SqliteConnection, writesSomething: string) {
    this.#writer = writer;
    this.#writesSomething = writesSomething;
  }

  /** Whether commits wait for a sync. */
  get areAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether one more commit may wait for the next sync. */
  get mayBeShared(): boolean {
    return this.#waiting.length < maxWaiting;
  }

  /** Sets whether the next transaction's commit syncs. Called before its begin. */
  use(syncs: boolean): void {
    if (syncs === this.#isSyncing) return;
    this.#writer.exec(`pragma synchronous = ${syncs ? "full" : "normal"}`);
    this.#isSyncing = syncs;
  }

  /** Writes a page. A commit without a written page would not sync, and other commits wait for its sync. */
  prepare(): void {
    this.#writer.run(this.#writesSomething, []);
  }

  /** Resolves after the next sync. */
  next(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Resolves the waiting commits, after a commit that synced. */
  done(): void {
    for (const waiter of this.#waiting.splice(0)) waiter.resolve();
  }

  /** Rejects the waiting commits, after a commit with a sync has failed. */
  failed(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }
}
