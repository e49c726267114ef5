import { existsSync } from "node:fs";
import { type Dialect } from "./dialect.js";
import { type Schema, schemaVersion } from "./migrate.js";
import { mysqlSchema } from "./mysql/migrations.js";
import { mysqlDialect } from "./mysql/mysql-dialect.js";
import { connectionOf, openMysqlPool, sessionOn } from "./mysql/pool.js";
import { readDatabase, sqlStore, type NamedDatabase } from "./open-store.js";
import { resolveSqlStoreOptions, type SqlStoreOptions } from "./options.js";
import { postgresSchema } from "./postgres/migrations.js";
import { openPostgresPool, resultOf } from "./postgres/pool.js";
import { numbered, postgresDialect } from "./postgres/postgres-dialect.js";
import { type Session } from "./sql-tx.js";
import { SqliteConnection } from "./sqlite/connection.js";
import { loadDriver, openDatabase } from "./sqlite/database.js";
import { sqliteSchema } from "./sqlite/migrations.js";
import { sqliteDialect } from "./sqlite/sqlite-dialect.js";
import { type Tables, tablesUnder } from "./tables/names.js";

/** The version of the kit's tables in a database, and the version that this tillkit makes. */
export interface SchemaState {
  kind: "sqlite" | "postgres" | "mysql";
  /** The version of the tables in the database; 0 where there are none. */
  version: number;
  /** The version that this tillkit makes. A store upgrades the tables to it at its first use. */
  newest: number;
}

/**
 * Reads the version of the kit's tables in a database, and makes or changes nothing: not even an SQLite file that does not exist.
 * `database` is read as `sqlStore` reads it.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy`.
 *
 * @throws ConfigurationError `option_invalid`
 */
export async function schemaState(
  database: string,
  options: Pick<SqlStoreOptions, "tablePrefix"> = {},
): Promise<SchemaState> {
  const tables = tablesUnder(resolveSqlStoreOptions(options).tablePrefix);
  const { kind, at } = readDatabase(database);
  // A store refuses an address that cannot be used, and knows the absolute path of a file; it opens nothing.
  const store = sqlStore(database);
  const { dialect, schema, connect } = readers[kind](tables, (store as { file?: string }).file ?? at);
  const newest = schema.steps.length;
  const connected = await connect();
  if (!connected) return { kind, version: 0, newest };
  try {
    return { kind, version: await schemaVersion(connected.session, schema), newest };
  } catch (error) {
    throw dialect.translate(error);
  } finally {
    await connected.close();
  }
}

interface Reader {
  dialect: Dialect;
  schema: Schema;
  /** Opens a connection; nothing where there is no database yet. */
  connect: () => Promise<{ session: Session; close: () => Promise<void> } | undefined>;
}

const readers: Record<NamedDatabase["kind"], (tables: Tables, at: string) => Reader> = {
  sqlite: (tables, file) => ({
    dialect: sqliteDialect,
    schema: sqliteSchema(tables),
    connect: async () => {
      // To open a file that does not exist would create it.
      if (!existsSync(file)) return undefined;
      const connection = new SqliteConnection(openDatabase(await loadDriver(), file, { readOnly: true }));
      const run = async (sql: string, params: readonly unknown[]) => connection.run(sql, params);
      return { session: { run: run as Session["run"] }, close: async () => connection.close() };
    },
  }),
  postgres: (tables, address) => ({
    dialect: postgresDialect,
    schema: postgresSchema(tables),
    connect: async () => {
      const pool = await openPostgresPool(address, 1);
      const run = async (sql: string, params: readonly unknown[]) =>
        resultOf(await pool.query(numbered(sql).text, [...params]));
      return { session: { run: run as Session["run"] }, close: () => pool.end() };
    },
  }),
  mysql: (tables, address) => ({
    dialect: mysqlDialect,
    schema: mysqlSchema(tables, ""),
    connect: async () => {
      const pool = await openMysqlPool(address, 1);
      const run = async (sql: string, params: readonly unknown[]) => {
        const connection = await connectionOf(pool);
        return sessionOn(connection)
          .run(sql, params)
          .finally(() => connection.release());
      };
      return { session: { run: run as Session["run"] }, close: () => pool.end() };
    },
  }),
};
