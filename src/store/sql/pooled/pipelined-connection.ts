import { withTimeout } from "../../../shared/with-timeout.js";

/** How long a group of webhooks waits for the pipelined connection, before a plain one is used. */
const maxWaitMs = 100;

/** For how long the connection is not tried again after it could not be opened. */
const retryAfterMs = 5000;

/**
 * The pipelined connection of a driver, which only the recording of webhooks uses: statements are sent before the results of those
 * in front of them are there. One is enough: one commit is under way at a time, and while that hangs, plain connections are used.
 */
export abstract class PipelinedConnection<
  Pool extends { end(): Promise<unknown> },
  Client extends { release(): void },
> {
  #opening: Promise<Pool> | undefined;
  #closing: Promise<unknown> | undefined;
  #isTaken = false;
  #retryAt = 0;

  /** Opens a pool of one connection, apart from the other connections. */
  protected abstract open(): Promise<Pool>;
  protected abstract connect(pool: Pool): Promise<Client>;
  /** Whether the client, and everything between it and the database, can pipeline statements. */
  protected abstract canPipeline(client: Client): boolean | Promise<boolean>;

  /** Takes the connection, until `free` is called. Resolves `undefined` while it is taken or cannot be opened shortly. */
  async take(): Promise<Client | undefined> {
    if (this.#isTaken || this.#closing || performance.now() < this.#retryAt) return undefined;
    this.#isTaken = true;
    const taking = this.#take();
    const client = await withTimeout(taking, maxWaitMs);
    if (!client) void taking.then((late) => late && this.#giveBack(late));
    return client;
  }

  /** Notes that the connection was given back, or thrown away. */
  free(): void {
    this.#isTaken = false;
  }

  async close(): Promise<void> {
    this.#closing ??= Promise.resolve(this.#opening).then((pool) => pool?.end());
    await this.#closing.catch(() => undefined);
  }

  /** Never rejects: a plain connection reports what is wrong. */
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
