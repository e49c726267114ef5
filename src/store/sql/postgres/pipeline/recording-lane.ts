import { type EventEmitter } from "node:events";
import { Socket } from "node:net";
import { lanePatienceMs, lanePauseMs, soon } from "../../../../shared/with-timeout.js";
import { openPostgresPool, type PostgresClient, type PostgresPool } from "../pool.js";

/**
 * The one connection that recording has to itself, in pg's pipeline mode: a statement is sent while those before it are
 * still being answered. Apart from the pool, because a client in that mode refuses cursors and streams, which handlers may
 * want to use. One will do: one commit is under way at a time, and where that one hangs, the next takes the ordinary way.
 */
export class RecordingLane {
  readonly #url: string;
  #opening: Promise<PostgresPool> | undefined;
  /** Of the newest connection. */
  #socket: Socket | undefined;
  #closing: Promise<void> | undefined;
  #isTaken = false;
  #isClosed = false;
  #pausedUntil = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** The connection until it is released; nothing while it is taken, cannot be had soon, or is one of an older pg. */
  async take(): Promise<PostgresClient | undefined> {
    if (this.#isTaken || this.#isClosed || performance.now() < this.#pausedUntil) return undefined;
    this.#isTaken = true;
    return soon(this.#connect(), lanePatienceMs, (late) => late?.release());
  }

  /** What is sent from now until nothing more can be done at once goes out in one write: they were a third of the server's time. */
  gather(): void {
    const socket = this.#socket;
    socket?.cork();
    process.nextTick(() => socket?.uncork());
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#closing ??= (async () => (await this.#opening?.catch(() => undefined))?.end())();
    return this.#closing;
  }

  /** Never rejects: the ordinary way says what is wrong. */
  async #connect(): Promise<PostgresClient | undefined> {
    try {
      this.#opening ??= this.#open();
      const client = await (await this.#opening).connect();
      if ((client as { pipeline?: boolean }).pipeline === true) return client;
      // An older pg: it would send one statement at a time all the same.
      client.release();
      await this.close();
    } catch {
      this.#pausedUntil = performance.now() + lanePauseMs;
      this.#isTaken = false;
    }
    return undefined;
  }

  async #open(): Promise<PostgresPool> {
    const pool = await openPostgresPool(this.#url, 1, {
      pipeline: true,
      stream: () => (this.#socket = new Socket()),
    });
    (pool as unknown as EventEmitter).on("release", (error?: Error) => {
      this.#isTaken = false;
      // In this mode pg would wait for what is still to be answered, by a server that may be gone.
      if (error) this.#socket?.destroy();
    });
    return pool;
  }
}
