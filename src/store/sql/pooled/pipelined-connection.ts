import { withTimeout } from "../../../shared/with-timeout.js";

/** The maximum wait, in milliseconds, of a group of webhooks for the pipelined connection. */
const maxWaitMs = 100;

/** The time, in milliseconds, without a new attempt after the connection could not be opened. */
const retryAfterMs = 5000;

/**
 * The pipelined connection of a driver, which sends statements before the previous ones have their results.
 * Only the recording of webhooks uses it. One connection is enough, because one commit is under way at a
 * time. During a slow commit, plain connections are used.
 */
export abstract class PipelinedConnection<
  Pool extends { end(): Promise<unknown> },
  Client extends { release(): void },
> {
  #opening: Promise<Pool> | undefined;
  #closing: Promise<unknown> | undefined;
  #isTaken = false;
  #retryAt = 0;

  /** Opens a pool of one connection, separate from the other connections. */
  protected abstract open(): Promise<Pool>;
  protected abstract connect(pool: Pool): Promise<Client>;
  /** Returns whether the client, and every proxy before the database, can pipeline statements. */
  protected abstract canPipeline(client: Client): boolean | Promise<boolean>;

  /**
   * Takes the connection until `free` is called. Resolves `undefined` if the connection is in use or not open
   * in time.
   */
  async take(): Promise<Client | undefined> {
    if (this.#isTaken || this.#closing || performance.now() < this.#retryAt) return undefined;
    this.#isTaken = true;
    const taking = this.#take();
    const client = await withTimeout(taking, maxWaitMs);
    if (!client) void taking.then((late) => late && this.#giveBack(late));
    return client;
  }

  /** Marks the connection as given back or closed. */
  free(): void {
    this.#isTaken = false;
  }

  async close(): Promise<void> {
    this.#closing ??= Promise.resolve(this.#opening).then((pool) => pool?.end());
    await this.#closing.catch(() => undefined);
  }

  /**
   * Takes the connection. Never rejects, because the plain connection that is then used reports the problem.
   */
  async #take(): Promise<Client | undefined> {
    try {
      this.#opening ??= this.open();
      const client = await this.connect(await this.#opening);
      if (await this.canPipeline(client)) return client;
      this.#giveBack(client);
      void this.close();
    } catch {
      this.#retryAt = performance.now() + retryAfterMs;
      this.free();
    }
    return undefined;
  }

  #giveBack(client: Client): void {
    client.release();
    this.free();
  }
}
