import { type SqlResult } from "../sql-tx.js";
import { type SqliteDatabase, type SqliteStatement } from "./database.js";

const statementsKept = 256;

/** One connection with its prepared statements; all of it synchronous. */
export class SqliteConnection {
  readonly database: SqliteDatabase;
  readonly #statements = new Map<string, { statement: SqliteStatement; answersRows: boolean }>();

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  run(sql: string, params: readonly unknown[]): SqlResult {
    const { statement, answersRows } = this.#prepare(sql);
    const values = params.map(bindable);
    if (answersRows) {
      const rows = Array.from(statement.all(...values) as Record<string, unknown>[]);
      return { rows, affected: rows.length };
    }
    return { rows: [], affected: Number(statement.run(...values).changes) };
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #prepare(sql: string): { statement: SqliteStatement; answersRows: boolean } {
    let prepared = this.#statements.get(sql);
    if (prepared) this.#statements.delete(sql);
    else {
      const statement = this.database.prepare(sql);
      prepared = { statement, answersRows: statement.columns().length > 0 };
    }
    // Last in the map is the latest used, so that the first one is the one to drop.
    this.#statements.set(sql, prepared);
    if (this.#statements.size > statementsKept)
      this.#statements.delete(this.#statements.keys().next().value!);
    return prepared;
  }
}

function bindable(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Date ? value.toISOString() : value;
}
