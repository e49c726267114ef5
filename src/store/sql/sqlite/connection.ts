import { withoutNul } from "../driver/dialect.js";
import { type SqlResult } from "../driver/sql-tx.js";
import { type SqliteDatabase, type SqliteStatement } from "./database.js";

/** The maximum number of prepared statements. Beyond it, the oldest one is dropped. */
const maxStatements = 256;

interface Prepared {
  statement: SqliteStatement;
  returnsRows: boolean;
}

/** One connection with its prepared statements. All methods are synchronous. */
export class SqliteConnection {
  readonly database: SqliteDatabase;
  readonly #statements = new Map<string, Prepared>();

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  /** Runs a statement of the application, unchanged. */
  query(sql: string, params: readonly unknown[]): SqlResult {
    const { rows, affected } = runOn(this.#prepare(sql), params.map(bindable));
    // The driver's rows have no prototype, so they would not equal the rows of other databases.
    return { rows: rows.map((row) => ({ ...row })), affected };
  }

  /** Runs a statement of the kit. */
  run(sql: string, params: readonly unknown[]): SqlResult {
    return runOn(this.#prepare(sql), params.map(bindableText));
  }

  /** Runs a statement of the kit without a result, because the driver would make an object for a result. */
  write(sql: string, params: readonly unknown[]): void {
    this.#prepare(sql).statement.all(...params.map(bindableText));
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (prepared) return prepared;
    const statement = this.database.prepare(sql);
    prepared = { statement, returnsRows: statement.columns().length > 0 };
    if (this.#statements.size === maxStatements)
      this.#statements.delete(this.#statements.keys().next().value!);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

function runOn({ statement, returnsRows }: Prepared, values: readonly unknown[]): SqlResult {
  if (returnsRows) {
    const rows = Array.from(statement.all(...values) as Record<string, unknown>[]);
    return { rows, affected: rows.length };
  }
  return { rows: [], affected: Number(statement.run(...values).changes) };
}

function bindableText(value: unknown): unknown {
  return typeof value === "string" ? withoutNul(value) : bindable(value);
}

function bindable(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Date ? value.toISOString() : value;
}
