import { type SqliteConnection } from "./connection.js";

/** How many commits may wait for one sync: a line of handlers that never ends must not keep the first of them waiting. */
const mostTogether = 32;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Syncs of the write-ahead log that commits share. The log is one file, written in order, so a commit that syncs puts those
 * before it on disk too: a handler with others in line behind it leaves the sync to them, and is told that it has committed
 * when it is done. Each has a transaction of its own all the same. A power failure in between takes the newest of them
 * whole, with their marks of being done, and those handlers run again.
 *
 * Measured with eight slots and one handler that updates one row: a commit with a sync of its own took most of a run.
 */
export class LogSyncs {
  readonly #writer: SqliteConnection;
  readonly #writesSomething: string;
  readonly #waiting: Waiter[] = [];
  #isSyncing = true;

  /** @param writesSomething - A statement that changes a page each time. */
  constructor(writer: SqliteConnection, writesSomething: string) {
    this.#writer = writer;
    this.#writesSomething = writesSomething;
  }

  get areAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  get mayBeShared(): boolean {
    return this.#waiting.length < mostTogether;
  }

  /** Before a begin: whether its commit is to sync. */
  use(syncs: boolean): void {
    if (syncs === this.#isSyncing) return;
    this.#writer.exec(`pragma synchronous = ${syncs ? "full" : "normal"}`);
    this.#isSyncing = syncs;
  }

  /** Before a commit that others wait for: one that writes nothing would not sync. */
  prepare(): void {
    this.#writer.run(this.#writesSomething, []);
  }

  /** Resolves after the next sync. */
  next(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** After a commit that synced. */
  done(): void {
    for (const waiter of this.#waiting.splice(0)) waiter.resolve();
  }

  failed(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }
}
