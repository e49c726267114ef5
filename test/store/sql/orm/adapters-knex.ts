import createKnex, { type Knex } from "knex";
import { type SqlResult, type SqlTx } from "tillkit/sql";

/** Builds statements and connects to nothing: `mysql2` for MySQL, `better-sqlite3` for SQLite. */
export const knex = createKnex({ client: "pg" });

/** Runs a statement that Knex built inside the kit's transaction. */
export function run<Row = Record<string, unknown>>(
  tx: SqlTx,
  statement: Knex.QueryBuilder,
): Promise<SqlResult<Row>> {
  const { sql, bindings } = statement.toSQL().toNative();
  return tx.query<Row>(sql, bindings);
}
