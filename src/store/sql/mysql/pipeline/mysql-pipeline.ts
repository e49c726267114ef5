import { type Ask } from "../../pooled/answer-limits.js";
import { withoutNul } from "../../driver/dialect.js";
import { type OpenTransaction } from "../../driver/driver.js";
import { type endsOf } from "../../pooled/connections.js";
import { PipelinedConnection } from "../../pooled/pipelined-connection.js";
import { type SqlResult } from "../../driver/sql-tx.js";
import {
  connectTimeoutMs,
  cutOffConnection,
  hasServerAnswered,
  hasSeveralWriters,
  type MysqlConnection,
  type MysqlPool,
  openMysqlPool,
  physical,
  mysqlResult,
  sessionOn,
} from "../pool.js";

/**
 * A connection that accepts several statements in one text. This connection is not in the pool, because a
 * statement of the application must not be able to contain a second statement.
 */
export class MysqlPipeline extends PipelinedConnection<MysqlPool, MysqlConnection> {
  readonly #url: string;
  readonly #prepared: (pool: MysqlPool) => Promise<MysqlConnection>;
  readonly #proven = new WeakSet<object>();

  /** @param prepared - Takes a connection of a pool, and prepares its session. */
  constructor(url: string, prepared: (pool: MysqlPool) => Promise<MysqlConnection>) {
    super();
    this.#url = url;
    this.#prepared = prepared;
  }

  protected override open(): Promise<MysqlPool> {
    return openMysqlPool(this.#url, 1, { multipleStatements: true });
  }

  protected override connect(pool: MysqlPool): Promise<MysqlConnection> {
    return this.#prepared(pool);
  }

  /**
   * Checks with a query whether the connection runs several statements of one text: some proxies refuse them,
   * and some run only the first. Also returns `false` if several servers accept writes. There, another
   * server's commit can end a transaction between two statements of one text, and the other statements would
   * commit separately.
   */
  protected override async canPipeline(connection: MysqlConnection): Promise<boolean> {
    const session = physical(connection);
    if (this.#proven.has(session)) return true;
    const tooLong = setTimeout(() => cutOffConnection(connection), connectTimeoutMs);
    try {
      const [answers] = await connection.query("select 1 as one; select 2 as two");
      const runsAll = JSON.stringify(answers) === '[[{"one":1}],[{"two":2}]]';
      const isProven = runsAll && !(await hasSeveralWriters(sessionOn(connection)));
      if (isProven) this.#proven.add(session);
      return isProven;
    } catch (error) {
      if (hasServerAnswered(error)) return false;
      connection.destroy();
      throw error;
    } finally {
      clearTimeout(tooLong);
    }
  }
}

/** The functions that end a transaction and give its connection back. */
export type TransactionEnds = ReturnType<typeof endsOf> & { ask: Ask };

/** Begins a transaction whose statements are pipelined. Does not wait for the result of the begin. */
export function pipelinedTransaction(
  connection: MysqlConnection,
  { ask, giveBack, abandon, rollback }: TransactionEnds,
): OpenTransaction<MysqlConnection> {
  const pipeline = new StatementPipeline(connection, ask);
  pipeline.add("start transaction").catch(() => undefined); // The next statements report its failure.
  const rollbackInOrder = async (): Promise<void> => {
    void pipeline.send();
    await rollback();
  };
  return {
    raw: connection,
    isPipelined: true,
    restart: () => Promise.all([pipeline.add("rollback"), pipeline.add("start transaction")]),
    query: () => Promise.reject(new TypeError("Only statements of the kit may use this connection.")),
    run: (sql, params) => pipeline.add(sql, params.map(withoutNul)),
    rollback: rollbackInOrder,
    abandon,
    commit: async () => {
      try {
        await pipeline.add("commit");
      } catch (error) {
        // If the error is not from the server, it is unknown whether the commit took effect.
        await rollbackInOrder();
        throw error;
      }
      giveBack();
    },
  };
}

interface Statement {
  sql: string;
  params: readonly unknown[];
  resolve: (result: SqlResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends all statements of one step of the event loop in one text. MySQL runs them in order and stops after a
 * failed statement, so the last one may be a commit.
 */
class StatementPipeline {
  readonly #connection: MysqlConnection;
  readonly #ask: Ask;
  #waiting: Statement[] = [];

  constructor(connection: MysqlConnection, ask: Ask) {
    this.#connection = connection;
    this.#ask = ask;
  }

  /** Resolves with the result of the statement. Rejects if any statement of the same text failed. */
  add(sql: string, params: readonly unknown[] = []): Promise<SqlResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ sql, params, resolve, reject }) === 1)
        process.nextTick(() => void this.send());
    });
  }

  /** Sends the waiting statements. Never rejects. */
  async send(): Promise<void> {
    const sent = this.#waiting;
    if (sent.length === 0) return;
    this.#waiting = [];
    const text = sent.map(({ sql }) => sql).join("; ");
    try {
      const params = sent.flatMap((statement) => statement.params);
      const [answer] = await this.#ask(() => this.#connection.query(text, params));
      const answers = sent.length === 1 ? [answer] : (answer as unknown[]);
      for (const [index, { resolve }] of sent.entries()) resolve(mysqlResult([answers[index]]));
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }
}
