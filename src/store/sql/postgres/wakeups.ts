import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { eventsOf, type PostgresClient } from "./pool.js";

/**
 * From one notification to the next. One for each commit took as much of the database's time as half of a naive webhook, when
 * they came one by one; and who is woken so often claims nothing sooner.
 */
const restMs = 20;

/**
 * Tells other processes that there are events, and listens for the same from them, on one connection of its own. A
 * missed notification costs one poll, so that nothing here is awaited by anybody.
 *
 * Notified after the commit and not inside of it: PostgreSQL lets transactions that notify commit only one after the
 * other, which would take the group commit from every process that records.
 */
export class Wakeups {
  readonly #channel: string;
  readonly #connect: () => Promise<PostgresClient>;
  /** Tells our own notifications from those of others. */
  readonly #sender = randomUUID();
  readonly #listeners = new Set<() => void>();
  #client: PostgresClient | undefined;
  #retry: NodeJS.Timeout | undefined;
  #connecting: Promise<void> | undefined;
  #announcing: Promise<void> | undefined;
  #again = false;
  readonly #closing = new AbortController();

  constructor(channel: string, connect: () => Promise<PostgresClient>) {
    this.#channel = channel;
    this.#connect = connect;
  }

  /** At once, or {@link restMs} after the one before; what is announced meanwhile shares the next one. */
  announce(): void {
    this.#again = true;
    this.#announcing ??= this.#notify().finally(() => (this.#announcing = undefined));
  }

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
        await this.#send(await this.#connect());
      } catch {
        // The others find the events at their next poll.
      }
      await delay(restMs, undefined, { signal, ref: false }).catch(ignored);
    }
  }

  async #send(client: PostgresClient): Promise<void> {
    // A checked-out client that breaks has nobody else who listens, and would end the process.
    eventsOf(client).on("error", ignored);
    try {
      await client.query("select pg_notify($1, $2)", [this.#channel, this.#sender]);
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
    eventsOf(client).off("error", ignored);
    client.release();
  }

  #start(retryInMs: number): void {
    if (this.#client || this.#connecting || this.#retry || this.#closing.signal.aborted) return;
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
    const client = await this.#connect();
    try {
      eventsOf(client).on("error", () => this.#lost(client));
      eventsOf(client).on("notification", (message: { payload?: string }) => {
        if (message.payload !== this.#sender) this.#wake();
      });
      await client.query(`listen "${this.#channel}"`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    if (this.#closing.signal.aborted || this.#listeners.size === 0) return client.release(true);
    this.#client = client;
    // Listening alone keeps no process alive.
    eventsOf(client).unref?.();
    // Something may have been saved before the subscription was there.
    this.#wake();
  }

  #lost(client: PostgresClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
    this.#later(100);
  }

  #stop(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    // Ended and not returned: it would go on listening.
    this.#client?.release(true);
    this.#client = undefined;
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}

function ignored(): void {
  // Whoever waits for the statement is told.
}
