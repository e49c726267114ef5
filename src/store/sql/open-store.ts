import { readDatabase, readFilePath, requireUrlOrPool } from "../../shared/database-address.js";
import { MysqlDriver } from "./mysql/mysql-driver.js";
import { type AnyMysqlPool, type MysqlConnection } from "./mysql/pool.js";
import { resolveSqlStoreOptions, type SqlStoreOptions } from "./options.js";
import { type PostgresClient, type PostgresPool } from "./postgres/pool.js";
import { PostgresDriver } from "./postgres/postgres-driver.js";
import { type SqlPaymentStore, SqlStore } from "./sql-store.js";
import { type SqliteDatabase } from "./sqlite/database.js";
import { SqliteDriver } from "./sqlite/sqlite-driver.js";
import { tablesUnder } from "./tables/names.js";

/**
 * Keeps everything in one SQLite file, for one or several processes of one host; the embedded default. The file is
 * opened, and its tables made, at the first use. Its directory must exist.
 *
 * The driver is Node's own `node:sqlite` from Node 22.16 on, else `@photostructure/sqlite`. Where the application opens
 * the same file itself, let it use the same driver: two copies of SQLite in one process cancel each other's locks.
 *
 * Transactions of one process run one after the other, in the order in which they asked; reads never wait.
 *
 * Rejections: `driver_missing`, `store_unavailable` (the file cannot be opened), `store_busy` (locked for longer than
 * `busyTimeoutMs`), `schema_too_new`, `store_closed`.
 *
 * @param file - Path of the file; a relative one starts at the working directory of this call.
 * @throws ConfigurationError with `option_invalid` for `":memory:"`, `""`, `file:` addresses and options out of range.
 */
export function sqliteStore(
  file: string,
  options?: SqlStoreOptions,
): SqlPaymentStore<SqliteDatabase> & { /** The absolute path. */ readonly file: string } {
  const absolute = readFilePath(file);
  const resolved = resolveSqlStoreOptions(options);
  const tables = tablesUnder(resolved.tablePrefix);
  return Object.assign(new SqlStore(new SqliteDriver(absolute, tables, resolved), tables), {
    file: absolute,
    spoolDirectory: `${absolute}-spool`,
  });
}

/**
 * Keeps everything in a PostgreSQL database (12 or newer), for any number of processes and hosts. Needs the package
 * `pg`. Nothing is opened before the first use, which also makes the tables, in the first schema of the search path.
 *
 * Each transaction holds one client of the pool until it ends. Give your own pool at least four more clients than there
 * are handlers running at the same time, or handlers can keep webhooks from being recorded.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy` (a lock not free within `busyTimeoutMs`),
 * `schema_too_new`, `store_closed`.
 *
 * @param urlOrPool - `postgres://…` for a pool of the store's own (`maxConnections` clients, 3 s to connect), closed by `close()`; or a
 * `Pool` of pg, which the caller closes, and whose `error` event the caller must listen to. An address names one host, and may
 * contain `?preparedStatements=false`.
 * @throws ConfigurationError with `option_invalid`.
 */
export function postgresStore(
  urlOrPool: string | PostgresPool,
  options?: SqlStoreOptions,
): SqlPaymentStore<PostgresClient> {
  requireUrlOrPool(urlOrPool, "postgres");
  const [source, inAddress] = typeof urlOrPool === "string" ? splitOptions(urlOrPool) : [urlOrPool, {}];
  const resolved = resolveSqlStoreOptions({ ...inAddress, ...options });
  const tables = tablesUnder(resolved.tablePrefix);
  return new SqlStore(new PostgresDriver(source, tables, resolved), tables);
}

/** Takes the parameter `preparedStatements` out of an address: it is an option of the store, which the driver must not see. */
function splitOptions(address: string): [string, SqlStoreOptions] {
  const [found, value] = /(?<=[?&])preparedStatements=([^&]*)&?/.exec(address) ?? [];
  if (found === undefined) return [address, {}];
  return [address.replace(found, "").replace(/[?&]$/, ""), { preparedStatements: value === "true" }];
}

/**
 * Keeps everything in a MySQL (8.0.17 or newer) or MariaDB (10.6 or newer) database, for any number of processes and
 * hosts. Needs the package `mysql2`. Nothing is opened before the first use, which also makes the tables.
 *
 * Each transaction holds one connection of the pool until it ends, at READ COMMITTED. Give your own pool at least four
 * more connections than there are handlers running at the same time, or handlers can keep webhooks from being recorded. The
 * connection's character set must be utf8mb4, which is the driver's default.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy` (a lock not free in time: `busyTimeoutMs`, rounded up to
 * seconds, or the server's own setting with a pool of the caller's), `schema_too_new`, `store_closed`.
 *
 * @param urlOrPool - `mysql://…` for a pool of the store's own (`maxConnections` of them, 3 s to connect), closed by `close()`; or a
 * pool of mysql2, which the caller closes. An address asks for TLS with `?ssl={}`.
 * @throws ConfigurationError with `option_invalid`.
 */
export function mysqlStore(
  urlOrPool: string | AnyMysqlPool,
  options?: SqlStoreOptions,
): SqlPaymentStore<MysqlConnection> {
  requireUrlOrPool(urlOrPool, "mysql");
  const resolved = resolveSqlStoreOptions(options);
  const tables = tablesUnder(resolved.tablePrefix);
  return new SqlStore(new MysqlDriver(urlOrPool, tables, resolved), tables);
}

/**
 * Returns the store for a database that one string names, as in `TILLKIT_DATABASE`: `postgres://…`, `mysql://…`, `mariadb://…`,
 * or a SQLite file (`shop.db`, `sqlite:shop.db`). Opens nothing before its first use.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function sqlStore(database: string, options?: SqlStoreOptions): SqlPaymentStore {
  const { kind, at } = readDatabase(database);
  if (kind === "postgres") return postgresStore(at, options);
  if (kind === "mysql") return mysqlStore(at, options);
  return sqliteStore(at, options);
}

/** The version of the kit's tables in a database, and the version that this tillkit makes. */
export interface SchemaState {
  /** The kind of the database. */
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
  const resolved = { ...resolveSqlStoreOptions(options), preparedStatements: false };
  const { kind, at } = readDatabase(database);
  const Driver = { sqlite: SqliteDriver, postgres: PostgresDriver, mysql: MysqlDriver }[kind];
  const driver = new Driver(at, tablesUnder(resolved.tablePrefix), resolved);
  try {
    return { kind, ...(await driver.readVersion()) };
  } finally {
    await driver.close();
  }
}
