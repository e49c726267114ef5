import { type Ask } from "../../pooled/answer-limits.js";
import { type OpenTransaction, type Purpose } from "../../driver/driver.js";
import { expectCommitted, type PostgresAnswer, type PostgresClient, postgresResult } from "../pool.js";
import { isSharedSession, numbered, postgresDialect } from "../postgres-dialect.js";
import { type PipelineFailed, sendPipelined, type LeadingStatement } from "./send-pipelined.js";

/**
 * The begin of a transaction. The begin is sent once, either separately or in front of the first statement.
 */
export class Begin {
  readonly #client: PostgresClient;
  readonly #ask: Ask;
  readonly #statements: readonly string[];
  #sent: Promise<unknown> | undefined;

  /** @param settings - The values of the server's settings in this transaction. */
  constructor(client: PostgresClient, ask: Ask, settings: Readonly<Record<string, string>>) {
    this.#client = client;
    this.#ask = ask;
    // All settings share one statement, because each further statement takes time on the server.
    const all = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
    this.#statements = ["begin isolation level read committed", `select ${all.join(", ")}`];
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  /** Sends only the begin, unless it was sent already. */
  send(): Promise<unknown> {
    return this.#sent ?? this.#note(this.#ask(() => this.#client.query(this.#statements.join("; "))));
  }

  /** Sends the begin (unless sent), statements and a query in one message. Rejects with `PipelineFailed`. */
  sendWith(
    statements: readonly LeadingStatement[],
    text: string,
    values: readonly unknown[],
    purpose?: Purpose,
  ): Promise<PostgresAnswer> {
    const begin = this.isSent ? [] : this.#statements.map((sql) => leadingStatement(sql));
    const leading = [...begin, ...statements];
    return this.#note(this.#ask(() => sendPipelined(this.#client, leading, text, values), purpose));
  }

  #note<T>(sending: Promise<T>): Promise<T> {
    sending.catch(() => undefined); // The next statements report its failure.
    this.#sent ??= sending;
    return sending;
  }
}

/**
 * Returns a transaction that begins with its first statement and commits with its last one. A handler that
 * updates one row then needs two round trips. Works only with clients that `canSendPipelined` accepts.
 */
export function beginWithFirst<Raw>(
  begin: Begin,
  open: OpenTransaction<Raw>,
  release: () => void,
): OpenTransaction<Raw> {
  const sendWith = async (commands: readonly string[], sql: string, params: readonly unknown[]) => {
    try {
      const leading = commands.map((command) => leadingStatement(command));
      return postgresResult(await begin.sendWith(leading, sql, params, "application"));
    } catch (error) {
      const { cause = error, isLeading = true } = error as Partial<PipelineFailed>;
      throw isLeading || isSharedSession(cause) ? postgresDialect.translate(cause) : cause;
    }
  };
  return {
    ...open,
    start: () => begin.send(),
    async query(sql, params) {
      // If the begin failed, a statement would run outside of any transaction.
      if (begin.isSent) await begin.send();
      if (isOneStatement(sql, params)) return sendWith([], sql, params);
      await begin.send();
      return open.query(sql, params);
    },
    async queryAfter(commands, sql, params) {
      if (isOneStatement(sql, params)) return sendWith(commands, sql, params);
      await begin.send();
      for (const command of commands) await open.run(command, []);
      return open.query(sql, params);
    },
    async run(sql, params) {
      // If the begin failed, a statement would run outside of any transaction.
      await begin.send();
      return open.run(sql, params);
    },
    async commit() {
      // Even without a statement, this shows whether the server is reachable.
      await begin.send();
      return open.commit();
    },
    async rollback() {
      if (begin.isSent) return open.rollback();
      release();
    },
    async commitWithLast(sql, params) {
      let answer: PostgresAnswer;
      try {
        answer = await begin.sendWith([failingWithoutRows(sql, params)], "commit", []);
      } catch (error) {
        const { cause = error, isLeading = true } = error as Partial<PipelineFailed>;
        const { code, severity } = cause as { code?: unknown; severity?: unknown };
        // Without a severity, no server answered. After a failed commit, the connection is not usable either.
        if (isLeading && severity !== undefined) await open.rollback();
        else open.abandon();
        if (isLeading && code === divisionByZero) return false;
        throw cause;
      }
      release();
      expectCommitted(answer);
      return true;
    },
  };
}

const divisionByZero = "22012";

/** Returns a statement that fails if `sql` writes no row, so that the server refuses the commit after it. */
function failingWithoutRows(sql: string, params: readonly unknown[]): LeadingStatement {
  const failing = `with written as (${sql} returning 1) select 1 / count(*) from written`;
  return leadingStatement(failing, (params as readonly (string | number)[]).map(String));
}

/**
 * Returns a statement to send before a query. It has a name of its own, because pg does not know this name,
 * and would prepare a statement that it sends itself a second time under the same name.
 */
function leadingStatement(sql: string, values: readonly string[] = []): LeadingStatement {
  const { text, name } = numbered(sql);
  return { text, values, ...(name !== undefined && { name: `${name}_ahead` }) };
}

/** Returns whether the text can follow a begin in one message. A text with values is a single statement. */
function isOneStatement(sql: unknown, params: readonly unknown[]): boolean {
  return typeof sql === "string" && sql !== "" && params.length > 0;
}
