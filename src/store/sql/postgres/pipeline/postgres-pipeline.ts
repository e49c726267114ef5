import { Socket } from "node:net";
import { type OpenTransaction } from "../../driver/driver.js";
import { PipelinedConnection } from "../../pooled/pipelined-connection.js";
import { openPostgresPool, type PostgresClient, type PostgresPool } from "../pool.js";

/**
 * A connection in pg's pipeline mode. This connection is not in the pool, because in this mode a client
 * refuses cursors and streams, which handlers may want to use.
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

  /** Returns a transaction that sends the statements of one step of the event loop in one write. */
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

  /** Holds statements back until the end of this step of the event loop, then sends them with one write. */
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
 * The settings of a pipelined transaction, whose statements are planned once for any values. Tables are small
 * when the plan is made. Without these settings, a plan could read a whole table, or search all keys for each
 * row.
 */
export const pipelineSettings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_nestloop: "off",
};
