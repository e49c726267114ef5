import { Socket } from "node:net";
import { type OpenTransaction } from "../../driver/driver.js";
import { PipelinedConnection } from "../../pooled/pipelined-connection.js";
import { openPostgresPool, type PostgresClient, type PostgresPool } from "../pool.js";

/**
 * A connection in pg's pipeline mode. It is apart from the pool, because a client in that mode refuses cursors and streams, which
 * handlers may want to use.
 */
export class PostgresPipeline extends PipelinedConnection<PostgresPool, PostgresClient> {
  readonly #url: string;
  readonly #take: (pool: PostgresPool) => Promise<PostgresClient>;
  /** The socket of the newest connection. */
  #socket: Socket | undefined;

  /** @param take - Takes a client of a pool. */
  constructor(url: string, take: (pool: PostgresPool) => Promise<PostgresClient>) {
    super();
    this.#url = url;
    this.#take = take;
  }

  /** Returns the transaction with its statements pipelined. What is sent in one iteration of the event loop is one write. */
  pipelined(open: OpenTransaction<PostgresClient>): OpenTransaction<PostgresClient> {
    return {
      ...open,
      isPipelined: true,
      run: (sql, params) => {
        this.gather();
        return open.run(sql, params);
      },
      commit: () => {
        this.gather();
        return open.commit();
      },
    };
  }

  /** Holds back what is sent until nothing more can be done without waiting, and then sends it with one write. */
  gather(): void {
    const socket = this.#socket;
    socket?.cork();
    process.nextTick(() => socket?.uncork());
  }

  protected override open(): Promise<PostgresPool> {
    const stream = (): Socket => (this.#socket = new Socket());
    return openPostgresPool(this.#url, 1, { pipeline: true, stream });
  }

  protected override connect(pool: PostgresPool): Promise<PostgresClient> {
    return this.#take(pool);
  }

  /** An older pg ignores the mode, and would send one statement at a time. */
  protected override canPipeline(client: PostgresClient): boolean {
    return (client as { pipeline?: boolean }).pipeline === true;
  }
}

/**
 * Settings of a pipelined transaction, whose statements are planned once for any values. A plan never reads a whole table, which
 * was small when it was made, and never searches all keys of a group for each of its rows.
 */
export const pipelineSettings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_nestloop: "off",
};
