import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Session } from "../driver/sql-tx.js";
import { eventsOf, type WatchedClient } from "./pool.js";

/**
 * The minimum time between two notifications. More notifications would be expensive, and would not make a
 * claim earlier.
 */
const restMs = 20;

/** The time between two checks of the listening connection. While it is broken, polls find the events. */
const checkMs = 10_000;

/**
 * Notifies other processes about new events, and listens for their notifications on a separate connection. A
 * lost notification only delays a claim until the next poll, so no caller waits for it.
 *
 * Notifies after the commit and not inside the transaction. PostgreSQL commits transactions that notify one
 * after the other, so several processes could not record at the same time.
 */
export class Wakeups {
  readonly #channel: string;
  readonly #session: Session;
  readonly #connect: () => Promise<WatchedClient>;
  /** The id of this process in its notifications. */
  readonly #sender = randomUUID();
  readonly #listeners = new Set<() => void>();
  #watched: WatchedClient | undefined;
  #check: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #connecting: Promise<void> | undefined;
  #announcing: Promise<void> | undefined;
  #again = false;
  readonly #closing = new AbortController();

  /** @param session - The session that sends the notifications. */
  constructor(channel: string, session: Session, connect: () => Promise<WatchedClient>) {
    this.#channel = channel;
    this.#session = session;
    this.#connect = connect;
  }

  /** Notifies now, or {@link restMs} after the last notification. Several calls share a notification. */
  announce(): void {
    this.#again = true;
    this.#announcing ??= this.#notify().finally(() => (this.#announcing = undefined));
  }

  /** Calls `listener` when another process notifies. Returns a function that ends the calls. */
  listen(listener: () => void): () => void {
    // A new function each time, so that the same listener can be added twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    this.#start(100);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#listeners.clear();
    this.#stop();
    await Promise.allSettled([this.#connecting, this.#announcing]);
  }

  async #notify(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#again && !signal.aborted) {
      this.#again = false;
      try {
        await this.#session.run("select pg_notify(?, ?)", [this.#channel, this.#sender]);
      } catch {
        // Other processes find the events at their next poll.
      }
      await delay(restMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #start(retryInMs: number): void {
    if (this.#watched || this.#connecting || this.#retry || this.#closing.signal.aborted) return;
    this.#connecting = this.#subscribe()
      .catch(() => this.#later(retryInMs))
      .finally(() => (this.#connecting = undefined));
  }

  #later(retryInMs: number): void {
    if (this.#closing.signal.aborted || this.#listeners.size === 0) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#start(Math.min(retryInMs * 2, 10_000));
    }, retryInMs);
    this.#retry.unref();
  }

  async #subscribe(): Promise<void> {
    const watched = await this.#connect();
    const { client, ask, abandon } = watched;
    try {
      eventsOf(client).on("error", () => this.#lost(watched));
      eventsOf(client).on("notification", (message: { payload?: string }) => {
        if (message.payload !== this.#sender) this.#wake();
      });
      await ask(() => client.query(`listen "${this.#channel}"`));
    } catch (error) {
      abandon();
      throw error;
    }
    if (this.#closing.signal.aborted || this.#listeners.size === 0) return abandon();
    this.#watched = watched;
    // A connection that only listens would not notice that it is dead.
    const check = (): void => void ask(() => client.query("select 1")).catch(() => this.#lost(watched));
    this.#check = setInterval(check, checkMs).unref();
    // This connection does not keep the process alive.
    eventsOf(client).unref?.();
    // Events may have been saved before the subscription.
    this.#wake();
  }

  #lost(watched: WatchedClient): void {
    if (this.#watched !== watched) return;
    this.#release();
    this.#later(100);
  }

  #stop(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#release();
  }

  #release(): void {
    clearInterval(this.#check);
    // The connection is closed, because in the pool it would still listen.
    this.#watched?.abandon();
    this.#watched = undefined;
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
