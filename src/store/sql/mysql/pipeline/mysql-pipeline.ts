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
 * A connection that takes several statements in one text. It is apart from the pool, whose connections take one: a statement of the
 * application must not be able to contain a second one.
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
   * Tries it: not every proxy takes several statements; some refuse them in their own way, and some run only the first. Where
   * several servers take writes, another server's commit ends a transaction between two statements of one text, and the server
   * would commit each of the others alone.
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

/** The ways in which a transaction gives its connection back. */
export type TransactionEnds = ReturnType<typeof endsOf> & { ask: Ask };

/** Begins a transaction whose statements are pipelined, without waiting for the result. */
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
        // An error of the server means that nothing is committed; after any other error this is unknown.
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
 * Sends statements that are added in one iteration of the event loop in one text. MySQL runs them in order, and none after one that
 * failed, so that a commit may be among them.
 */
class StatementPipeline {
  readonly #connection: MysqlConnection;
  readonly #ask: Ask;
  #waiting: Statement[] = [];

  constructor(connection: MysqlConnection, ask: Ask) {
    this.#connection = connection;
    this.#ask = ask;
  }

  /** Resolves with the result of the statement. Rejects where one of the statements that were sent with it failed. */
  add(sql: string, params: readonly unknown[] = []): Promise<SqlResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ sql, params, resolve, reject }) === 1)
        process.nextTick(() => void this.send());
    });
  }

  /** Sends the statements that wait, if there are any. Never rejects. */
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
