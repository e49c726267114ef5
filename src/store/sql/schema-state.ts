import { existsSync } from "node:fs";
import { readDatabase, sqlStore } from "./open-store.js";
import { mysqlVersion } from "./mysql/migrate.js";
import { mysqlMigrations } from "./mysql/migrations.js";
import { mysqlDialect } from "./mysql/mysql-dialect.js";
import { connectionOf, openMysqlPool } from "./mysql/pool.js";
import { resolveSqlStoreOptions, type SqlStoreOptions } from "./options.js";
import { postgresVersion } from "./postgres/migrate.js";
import { postgresMigrations } from "./postgres/migrations.js";
import { openPostgresPool } from "./postgres/pool.js";
import { numbered, postgresDialect } from "./postgres/postgres-dialect.js";
import { SqliteConnection } from "./sqlite/connection.js";
import { loadDriver, openDatabase } from "./sqlite/database.js";
import { sqliteVersion } from "./sqlite/migrate.js";
import { sqliteMigrations } from "./sqlite/migrations.js";
import { sqliteDialect } from "./sqlite/sqlite-dialect.js";
import { type sqliteStore } from "./sqlite/sqlite-store.js";
import { tablesUnder, type Tables } from "./tables/names.js";

/** The kit's tables in a database, beside those that this tillkit wants. */
export interface SchemaState {
  kind: "sqlite" | "postgres" | "mysql";
  /** The version of the tables that are there; 0 where there are none. */
  version: number;
  /** The version that this tillkit makes. A store brings the tables there at its first use. */
  newest: number;
}

/**
 * The version of the kit's tables in a database, read without making or changing anything: not even an SQLite file that
 * is not there yet. `database` is read as `sqlStore` reads it.
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
  // A store refuses an address that cannot be used, and knows where a file lies; it opens nothing.
  const store = sqlStore(database);
  switch (kind) {
    case "postgres":
      return {
        kind,
        version: await versionOnPostgres(at, tables),
        newest: postgresMigrations(tables).length,
      };
    case "mysql":
      return { kind, version: await versionOnMysql(at, tables), newest: mysqlMigrations(tables, "").length };
    case "sqlite": {
      const { file } = store as ReturnType<typeof sqliteStore>;
      return { kind, version: await versionInFile(file, tables), newest: sqliteMigrations(tables).length };
    }
  }
}

async function versionOnPostgres(address: string, tables: Tables): Promise<number> {
  const pool = await openPostgresPool(address, 1);
  const run = async (sql: string, params: readonly unknown[]): Promise<unknown> => {
    const { rows, rowCount } = await pool.query(numbered(sql).text, [...params]);
    return { rows, affected: rowCount ?? 0 };
  };
  try {
    return await postgresVersion({ run: run as never }, tables);
  } catch (error) {
    throw postgresDialect.translate(error);
  } finally {
    await pool.end();
  }
}

async function versionOnMysql(address: string, tables: Tables): Promise<number> {
  const pool = await openMysqlPool(address, 1);
  try {
    const connection = await connectionOf(pool);
    return await mysqlVersion(connection, tables).finally(() => connection.release());
  } catch (error) {
    throw mysqlDialect.translate(error);
  } finally {
    await pool.end();
  }
}

async function versionInFile(file: string, tables: Tables): Promise<number> {
  // Opening a file that is not there would make it.
  if (!existsSync(file)) return 0;
  const connection = new SqliteConnection(openDatabase(await loadDriver(), file, { readOnly: true }));
  try {
    return sqliteVersion(connection, tables);
  } catch (error) {
    throw sqliteDialect.translate(error);
  } finally {
    connection.close();
  }
}
