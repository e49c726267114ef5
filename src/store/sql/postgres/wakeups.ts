import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Session } from "../driver/sql-tx.js";
import { eventsOf, type WatchedClient } from "./pool.js";

/** The time between two notifications. One for each commit would cost the database much, and nothing would be claimed sooner. */
const restMs = 20;

/** The time between two checks of the connection that listens. Until it is made anew, a poll finds the events. */
const checkMs = 10_000;

/**
 * Notifies other processes that there are events, and listens for their notifications on a connection of its own. A notification
 * that is lost costs one poll, so no caller waits for one.
 *
 * Notifies after the commit and not inside it: PostgreSQL lets transactions that notify commit only one after the other, and the
 * processes that record could no longer commit at the same time.
 */
export class Wakeups {
  readonly #channel: string;
  readonly #session: Session;
  readonly #connect: () => Promise<WatchedClient>;
  /** Marks the notifications of this process. */
  readonly #sender = randomUUID();
  readonly #listeners = new Set<() => void>();
  #watched: WatchedClient | undefined;
  #check: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #connecting: Promise<void> | undefined;
  #announcing: Promise<void> | undefined;
  #again = false;
  readonly #closing = new AbortController();

  /** @param session - Sends the notifications. */
  constructor(channel: string, session: Session, connect: () => Promise<WatchedClient>) {
    this.#channel = channel;
    this.#session = session;
    this.#connect = connect;
  }

  /** Notifies now, or {@link restMs} after the last notification. Calls in between share the next one. */
  announce(): void {
    this.#again = true;
    this.#announcing ??= this.#notify().finally(() => (this.#announcing = undefined));
  }

  /** Calls `listener` when another process notifies. Returns a function that stops this. */
  listen(listener: () => void): () => void {
    // Wrapped, so that one function given twice is two listeners.
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
        // The others find the events at their next poll.
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
    // Events may have been saved before the subscription was there.
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
    // Closed and not given back, because it would go on listening.
    this.#watched?.abandon();
    this.#watched = undefined;
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
