import { type MysqlConnection, type MysqlPool, openMysqlPool } from "./pool.js";

/**
 * The one connection that recording has to itself, which takes several statements in one text. Apart from the pool, whose
 * connections take one: a statement of the application must not be able to bring a second one along. One will do: one
 * commit is under way at a time, and where that one hangs, the next takes the ordinary way.
 */
export class RecordingLane {
  readonly #url: string;
  readonly #connect: (pool: MysqlPool) => Promise<MysqlConnection>;
  #opening: Promise<MysqlPool> | undefined;
  #closing: Promise<void> | undefined;
  #isTaken = false;

  /** @param connect how the driver takes a connection, made ready for its statements */
  constructor(url: string, connect: (pool: MysqlPool) => Promise<MysqlConnection>) {
    this.#url = url;
    this.#connect = connect;
  }

  /** The connection until it is let go; nothing while it is taken or cannot be had. */
  async take(): Promise<MysqlConnection | undefined> {
    if (this.#isTaken || this.#closing) return undefined;
    this.#isTaken = true;
    try {
      this.#opening ??= openMysqlPool(this.#url, 1, { multipleStatements: true });
      return await this.#connect(await this.#opening);
    } catch {
      // The ordinary way says what is wrong.
      this.#isTaken = false;
      return undefined;
    }
  }

  /** The connection was given back, or thrown away. */
  free(): void {
    this.#isTaken = false;
  }

  /** For good: also where whatever is between here and the server takes one statement at a time. */
  close(): Promise<void> {
    this.#closing ??= (async () => (await this.#opening?.catch(() => undefined))?.end())();
    return this.#closing;
  }
}
