import { type SqliteConnection } from "./connection.js";

/** The maximum number of commits that wait for one sync, so that the first of them does not wait for an endless queue. */
const maxWaiting = 32;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Shares syncs of the write-ahead log between commits. The log is one file, written in order, so a sync for one commit puts the
 * commits before it on disk too. The transaction of a handler, if others wait in the queue, commits without a sync, and its
 * promise resolves after the next one. A power failure in between takes back the newest of these transactions as a whole, with
 * their marks "done", and those handlers run again.
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

  /** Sets, before a begin, whether its commit syncs. */
  use(syncs: boolean): void {
    if (syncs === this.#isSyncing) return;
    this.#writer.exec(`pragma synchronous = ${syncs ? "full" : "normal"}`);
    this.#isSyncing = syncs;
  }

  /** Writes something before a commit that others wait for: a commit that writes nothing would not sync. */
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

  /** Rejects the waiting commits, after a commit that should have synced failed. */
  failed(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }
}
