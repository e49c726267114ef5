import { type SqlResult } from "../../sql-tx.js";
import { type MysqlConnection } from "../pool.js";
import { resultOf } from "../result.js";

interface Statement {
  sql: string;
  params: readonly unknown[];
  resolve: (result: SqlResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Statements that are handed over in one go are sent in one text. MySQL runs them in their order, and none behind one that
 * failed, so that a commit may be among them. Recording a lone webhook was eight round trips, which were most of its time;
 * it is two.
 */
export class Together {
  readonly #connection: MysqlConnection;
  #waiting: Statement[] = [];

  constructor(connection: MysqlConnection) {
    this.#connection = connection;
  }

  /** Resolves with the statement's own result, and rejects where one of those that were sent with it failed. */
  add(sql: string, params: readonly unknown[] = []): Promise<SqlResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ sql, params, resolve, reject }) === 1)
        process.nextTick(() => void this.send());
    });
  }

  /** Sends what waits, if anything does. Never rejects. */
  async send(): Promise<void> {
    const sent = this.#waiting;
    if (sent.length === 0) return;
    this.#waiting = [];
    const text = sent.map(({ sql }) => sql).join("; ");
    try {
      const [answer] = await this.#connection.query(
        text,
        sent.flatMap(({ params }) => params),
      );
      const answers = sent.length === 1 ? [answer] : (answer as unknown[]);
      for (const [index, { resolve }] of sent.entries()) resolve(resultOf([answers[index], undefined]));
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }
}
