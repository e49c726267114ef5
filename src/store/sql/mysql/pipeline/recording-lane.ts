import { lanePatienceMs, lanePauseMs, soon } from "../../../../shared/with-timeout.js";
import { hasServerAnswered, type MysqlConnection, type MysqlPool, openMysqlPool, physical } from "../pool.js";

/**
 * The one connection that recording has to itself, which takes several statements in one text. Apart from the pool, whose
 * connections take one: a statement of the application must not be able to bring a second one along. One will do: one
 * commit is under way at a time, and where that one hangs, the next takes the ordinary way.
 */
export class RecordingLane {
  readonly #url: string;
  readonly #connect: (pool: MysqlPool) => Promise<MysqlConnection>;
  readonly #proven = new WeakSet<object>();
  #opening: Promise<MysqlPool> | undefined;
  #closing: Promise<void> | undefined;
  #isTaken = false;
  #pausedUntil = 0;

  /** @param connect how the driver takes a connection, made ready for its statements */
  constructor(url: string, connect: (pool: MysqlPool) => Promise<MysqlConnection>) {
    this.#url = url;
    this.#connect = connect;
  }

  /** The connection until it is let go; nothing while it is taken or cannot be had soon. */
  async take(): Promise<MysqlConnection | undefined> {
    if (this.#isTaken || this.#closing || performance.now() < this.#pausedUntil) return undefined;
    this.#isTaken = true;
    return soon(this.#open(), lanePatienceMs, (late) => {
      late?.release();
      this.free();
    });
  }

  /** The connection was given back, or thrown away. */
  free(): void {
    this.#isTaken = false;
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await (await this.#opening)?.end();
    })().catch(() => undefined);
    return this.#closing;
  }

  /** Never rejects: the ordinary way says what is wrong. */
  async #open(): Promise<MysqlConnection | undefined> {
    try {
      this.#opening ??= openMysqlPool(this.#url, 1, { multipleStatements: true });
      const connection = await this.#connect(await this.#opening);
      if (await this.#takesSeveral(connection)) return connection;
      connection.release();
      void this.close();
    } catch {
      this.#pausedUntil = performance.now() + lanePauseMs;
    }
    this.free();
    return undefined;
  }

  /** Whether whatever answers there does: not every proxy does, each says so in its own way, and some take the first alone. */
  async #takesSeveral(connection: MysqlConnection): Promise<boolean> {
    const session = physical(connection);
    if (this.#proven.has(session)) return true;
    try {
      const [answers] = await connection.query("select 1 as one; select 2 as two");
      const isProven = JSON.stringify(answers) === '[[{"one":1}],[{"two":2}]]';
      if (isProven) this.#proven.add(session);
      return isProven;
    } catch (error) {
      if (hasServerAnswered(error)) return false;
      connection.destroy();
      throw error;
    }
  }
}
