import { createHash } from "node:crypto";
import { TillkitError } from "../../../errors/index.js";
import { refuseNewer } from "../schema-version.js";
import { type Tables } from "../tables/names.js";
import { mysqlMigrations } from "./migrations.js";
import { type MysqlConnection } from "./pool.js";
import { resultOf } from "./result.js";

/** Brings the tables to the newest version, under a lock of the kit's own. */
export async function migrateMysql(connection: MysqlConnection, tables: Tables): Promise<void> {
  const ask = async (sql: string, params: unknown[] = []): Promise<Record<string, unknown>> =>
    resultOf(await connection.query(sql, params)).rows[0] ?? {};
  const { database, version: server } = await ask("select database() as `database`, version() as version");
  const steps = mysqlMigrations(tables, collationOf(String(server)));
  if (refuseNewer(await mysqlVersion(connection, tables), steps.length) === steps.length) return;
  // Names of locks are the whole server's, and short.
  const lock = createHash("sha256")
    .update(`tillkit ${String(database)} ${tables.meta}`)
    .digest("hex")
    .slice(0, 60);
  const { locked } = await ask("select get_lock(?, 60) as locked", [lock]);
  if (Number(locked) !== 1)
    throw new TillkitError("store_busy", "Another process has been making the tables for a minute.");
  try {
    await connection.query(
      `create table if not exists ${tables.meta} (name varchar(64) primary key, value varchar(255) not null)
        engine = InnoDB`,
    );
    for (const step of steps.slice(refuseNewer(await mysqlVersion(connection, tables), steps.length)))
      for (const statement of step) await applied(connection, statement);
    const sql = `replace into ${tables.meta} (name, value) values ('version', ?)`;
    await connection.query(sql, [String(steps.length)]);
  } finally {
    await connection.query("select release_lock(?)", [lock]);
  }
}

/** A step that was cut short is run again from its start: a column or key that exists was made then. */
async function applied(connection: MysqlConnection, statement: string): Promise<void> {
  try {
    await connection.query(statement);
  } catch (error) {
    const [duplicateColumn, duplicateKey] = [1060, 1061];
    const { errno } = error as { errno?: number };
    if (errno !== duplicateColumn && errno !== duplicateKey) throw error;
  }
}

/** Exact comparison, trailing spaces included; the two servers name it differently. */
function collationOf(server: string): string {
  return server.includes("MariaDB") ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin";
}

/** The version of the tables; 0 where there are none. */
export async function mysqlVersion(connection: MysqlConnection, tables: Tables): Promise<number> {
  const made = "select 1 from information_schema.tables where table_schema = database() and table_name = ?";
  if (resultOf(await connection.query(made, [tables.meta])).rows.length === 0) return 0;
  const { rows } = resultOf(
    await connection.query(`select value from ${tables.meta} where name = 'version'`),
  );
  return Number(rows[0]?.["value"] ?? 0);
}
