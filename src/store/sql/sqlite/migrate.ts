import { refuseNewer } from "../schema-version.js";
import { type Tables } from "../tables/names.js";
import { type SqliteConnection } from "./connection.js";
import { sqliteMigrations } from "./migrations.js";
import { retryBusy } from "./retry-busy.js";

/** Brings the tables to the newest version, under the write lock, so that several processes may start at once. */
export async function migrateSqlite(
  connection: SqliteConnection,
  tables: Tables,
  busyTimeoutMs: number,
): Promise<void> {
  const steps = sqliteMigrations(tables);
  const isNewest = (): boolean =>
    refuseNewer(sqliteVersion(connection, tables), steps.length) === steps.length;
  if (await retryBusy(busyTimeoutMs, isNewest)) return;
  await retryBusy(busyTimeoutMs, () => {
    connection.exec("begin immediate");
    try {
      connection.exec(
        `create table if not exists ${tables.meta} (name text not null primary key, value text not null)`,
      );
      for (const step of steps.slice(refuseNewer(sqliteVersion(connection, tables), steps.length)))
        for (const statement of step) connection.exec(statement);
      connection.run(`insert or replace into ${tables.meta} (name, value) values ('version', ?)`, [
        String(steps.length),
      ]);
      connection.exec("commit");
    } catch (error) {
      connection.exec("rollback");
      throw error;
    }
  });
}

/** The version of the tables; 0 where there are none. */
export function sqliteVersion(connection: SqliteConnection, tables: Tables): number {
  const made = "select 1 from sqlite_master where type = 'table' and name = ?";
  if (connection.run(made, [tables.meta]).rows.length === 0) return 0;
  const { rows } = connection.run(`select value from ${tables.meta} where name = 'version'`, []);
  return Number(rows[0]?.["value"] ?? 0);
}
