import { storable } from "../dialect.js";
import { type SqlResult } from "../sql-tx.js";
import { type SqliteDatabase, type SqliteStatement } from "./database.js";

const statementsKept = 256;

interface Prepared {
  statement: SqliteStatement;
  answersRows: boolean;
}

/** One connection with its prepared statements; all of it synchronous. */
export class SqliteConnection {
  readonly database: SqliteDatabase;
  readonly #statements = new Map<string, Prepared>();

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  /** A statement of the application, as it stands. */
  query(sql: string, params: readonly unknown[]): SqlResult {
    return runOn(this.#prepare(sql), params.map(bindable));
  }

  run(sql: string, params: readonly unknown[]): SqlResult {
    return runOn(this.#prepare(sql), params.map(bindableText));
  }

  /** One statement for each list of params; how many rows each wrote. */
  runEach(sql: string, params: readonly (readonly unknown[])[]): number[] {
    const { statement } = this.#prepare(sql);
    return params.map((each) => Number(statement.run(...each.map(bindableText)).changes));
  }

  /** The same for whoever need not know: a driver that makes an object of each answer takes 0.4 us for it. */
  writeEach(sql: string, params: readonly (readonly unknown[])[]): void {
    const { statement } = this.#prepare(sql);
    for (const each of params) statement.all(...each.map(bindableText));
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #prepare(sql: string): Prepared {
    const kept = this.#statements.get(sql);
    // Until there are as many as may be, none is dropped, and their order does not matter.
    if (kept && this.#statements.size < statementsKept) return kept;
    const prepared = kept ?? this.#prepareAnew(sql);
    // Last in the map is the latest used, so that the first one is the one to drop.
    this.#statements.delete(sql);
    this.#statements.set(sql, prepared);
    if (this.#statements.size > statementsKept)
      this.#statements.delete(this.#statements.keys().next().value!);
    return prepared;
  }

  #prepareAnew(sql: string): Prepared {
    const statement = this.database.prepare(sql);
    return { statement, answersRows: statement.columns().length > 0 };
  }
}

function runOn({ statement, answersRows }: Prepared, values: readonly unknown[]): SqlResult {
  if (answersRows) {
    const rows = Array.from(statement.all(...values) as Record<string, unknown>[]);
    return { rows, affected: rows.length };
  }
  return { rows: [], affected: Number(statement.run(...values).changes) };
}

function bindableText(value: unknown): unknown {
  return typeof value === "string" ? storable(value) : bindable(value);
}

function bindable(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Date ? value.toISOString() : value;
}
