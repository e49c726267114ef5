import { TillkitError } from "../../../../errors/index.js";
import { type OpenTransaction } from "../../driver.js";
import { type SqlResult } from "../../sql-tx.js";
import { type PostgresAnswer, type PostgresClient } from "../pool.js";
import { numbered, postgresDialect } from "../postgres-dialect.js";
import { type SendingFailed, sendTogether, type StatementAhead } from "./send-together.js";

/** The begin of a transaction, which is sent once: at once, or together with what comes first. */
export class Begin {
  readonly #client: PostgresClient;
  readonly #statements: readonly string[];
  #sent: Promise<unknown> | undefined;

  constructor(client: PostgresClient, settings: readonly string[]) {
    this.#client = client;
    this.#statements = [
      "begin isolation level read committed",
      ...settings.map((setting) => `set local ${setting}`),
    ];
  }

  now(): Promise<unknown> {
    return this.#sent ?? this.#send(this.#client.query(this.#statements.join("; ")));
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  /** Sends the rest of it, statements and a query, with one wait for all of them. Rejects with `SendingFailed`. */
  with(ahead: readonly StatementAhead[], text: string, values: readonly unknown[]): Promise<PostgresAnswer> {
    const begin = this.isSent
      ? []
      : this.#statements.map((each, index) => ({ text: each, name: `tillkit_begin_${index}` }));
    return this.#send(sendTogether(this.#client, [...begin, ...ahead], text, values)!);
  }

  #send<T>(sending: Promise<T>): Promise<T> {
    sending.catch(() => undefined); // Told by whatever comes behind it.
    this.#sent ??= sending;
    return sending;
  }
}

/**
 * A transaction that begins together with its first statement and commits together with its last: two round trips, where a
 * handler that updates one row made four. For clients with {@link sendTogether}, as is no pool of the application's.
 */
export function withLateBegin<Raw>(
  begin: Begin,
  open: OpenTransaction<Raw>,
  resultOf: (answer: PostgresAnswer) => SqlResult,
  release: () => void,
): OpenTransaction<Raw> {
  return {
    ...open,
    begun: () => begin.now(),
    async query(sql, params) {
      if (!begin.isSent && isOneStatement(sql, params)) {
        try {
          return resultOf(await begin.with([], sql, params));
        } catch (error) {
          const { cause, isAhead } = error as SendingFailed;
          throw isAhead ? postgresDialect.translate(cause) : cause;
        }
      }
      await begin.now();
      return open.query(sql, params);
    },
    async run(sql, params) {
      // Had the begin failed, what was sent behind it would run outside of any transaction.
      await begin.now();
      return open.run(sql, params);
    },
    async commit() {
      // Nothing was asked. What is committed all the same says whether the server is there.
      await begin.now();
      return open.commit();
    },
    async rollback() {
      if (begin.isSent) return open.rollback();
      release();
    },
    async commitBehind(sql, params) {
      const { text, name } = numbered(
        `with written as (${sql} returning 1) select 1 / count(*) from written`,
      );
      const values = (params as readonly (string | number)[]).map(String);
      let answer: PostgresAnswer;
      try {
        const last = { text, values, ...(name !== undefined && { name: `${name}_ahead` }) };
        answer = await begin.with([last], "commit", []);
      } catch (error) {
        const { cause, isAhead } = error as SendingFailed;
        const { code, severity } = cause as { code?: unknown; severity?: unknown };
        // The server's own errors carry a severity; where there is none, or the commit failed, the connection is done for.
        if (isAhead && severity !== undefined) await open.rollback();
        else open.abandon();
        if (isAhead && code === divisionByZero) return false;
        throw cause;
      }
      release();
      expectCommitted(answer);
      return true;
    },
  };
}

const divisionByZero = "22012";

/** Several statements in one text have no values, and no place behind a begin. */
function isOneStatement(sql: unknown, params: readonly unknown[]): boolean {
  return typeof sql === "string" && sql !== "" && params.length > 0;
}

/** A transaction in which a statement failed, unseen by the kit, answers its commit with a rollback. */
export function expectCommitted({ command }: PostgresAnswer): void {
  if (command !== "COMMIT")
    throw new TillkitError("transaction_poisoned", "PostgreSQL rolled the transaction back.");
}
