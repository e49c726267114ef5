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
 * Makes a store over one SQLite file, for one or several processes of one host. Needs no database server. The
 * first use opens the file and creates the tables. The directory of the file must exist.
 *
 * The driver is Node's own `node:sqlite` from Node 22.16 on, else `@photostructure/sqlite`. If the
 * application opens the same file itself, it must use the same driver: two copies of SQLite in one process
 * cancel each other's locks.
 *
 * Transactions of one process run one after the other, in the order in which they asked. A read waits at most
 * for a commit.
 *
 * Rejections: `driver_missing`, `store_unavailable` (the file cannot be opened), `path_exposed` (other users
 * can write the file), `store_busy` (locked for longer than `busyTimeoutMs`), `schema_too_new`,
 * `store_closed`.
 *
 * @param file - The path of the file. A relative path starts at the working directory of this call.
 * @throws ConfigurationError with `option_invalid` for `":memory:"`, `""`, addresses, and invalid options.
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
 * Makes a store over a PostgreSQL database (12 or newer), for any number of processes and hosts. Needs the
 * package `pg`. The first use connects, and creates the tables in the first schema of the search path.
 *
 * Each transaction holds one client of the pool until it ends. Give your own pool at least four more clients
 * than handlers run at the same time. Otherwise handlers can prevent the recording of webhooks.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy` (a lock not free within `busyTimeoutMs`),
 * `schema_too_new`, `database_unexamined` (another product that refuses the kit's tables), `store_closed`.
 *
 * @param urlOrPool - An address `postgres://…`, or a `Pool` of pg. For an address, the store makes its own
 * pool (`maxConnections` clients, 3 s to connect), and `close()` closes this pool. The address names one
 * host, and may contain `?preparedStatements=false`. The caller closes a `Pool` of pg, and must listen to its
 * `error` event.
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

/**
 * Returns an address without `preparedStatements`, which the driver must not see, and the options from it.
 */
function splitOptions(address: string): [string, SqlStoreOptions] {
  const [found, value] = /(?<=[?&])preparedStatements=([^&]*)&?/.exec(address) ?? [];
  if (found === undefined) return [address, {}];
  return [address.replace(found, "").replace(/[?&]$/, ""), { preparedStatements: value === "true" }];
}

/**
 * Makes a store over a MySQL (8.0.17 or newer) or MariaDB (10.6 or newer) database, for any number of
 * processes and hosts. Needs the package `mysql2`. The first use connects and creates the tables.
 *
 * Each transaction holds one connection of the pool until it ends, at READ COMMITTED. Give your own pool at
 * least four more connections than handlers run at the same time. Otherwise handlers can prevent the
 * recording of webhooks. The connection's character set must be utf8mb4, which is the driver's default.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy` (a lock not free in `busyTimeoutMs`,
 * rounded up to seconds; with the caller's pool, in the time that the server sets), `schema_too_new`,
 * `database_refused` (a product that breaks the store's guarantees), `database_unexamined` (another product
 * that refuses the kit's tables), `option_invalid` (unsafe settings of the sessions), `store_closed`.
 *
 * @param urlOrPool - An address `mysql://…`, or a pool of mysql2, which the caller closes. For an address,
 * the store makes its own pool (`maxConnections` connections, 3 s to connect), and `close()` closes this
 * pool. `?ssl={}` in the address asks for TLS.
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
 * Returns the store for a database that a string names, as `TILLKIT_DATABASE` does: `postgres://…`,
 * `mysql://…`, `mariadb://…`, or a SQLite file (`shop.db`, `sqlite:shop.db`). Opens nothing before its first
 * use.
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
  /** The version of the tables in the database. 0 means that there are none. */
  version: number;
  /** The version of this tillkit's tables. The first use of a store upgrades older tables to it. */
  newest: number;
}

/**
 * Reads the version of the kit's tables in a database. Changes nothing, and does not create a missing SQLite
 * file. `database` has the same forms as for `sqlStore`.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy`, `path_exposed`, `database_refused`.
 *
 * @throws ConfigurationError `option_invalid`
 */
export async function schemaState(
  database: string,
  options: Pick<SqlStoreOptions, "tablePrefix"> = {},
): Promise<SchemaState> {
  const { kind, driver } = openDriver(database, options);
  try {
    return { kind, ...(await driver.readVersion()) };
  } finally {
    await driver.close();
  }
}

/**
 * Returns a driver, which does not need the tables of the kit. `readVersion` must be its first call.
 * `database` has the same forms as for `sqlStore`.
 *
 * @internal
 * @throws ConfigurationError `option_invalid`
 */
export function openDriver(database: string, options: Pick<SqlStoreOptions, "tablePrefix"> = {}) {
  const resolved = { ...resolveSqlStoreOptions(options), preparedStatements: false };
  const { kind, at } = readDatabase(database);
  const Driver = { sqlite: SqliteDriver, postgres: PostgresDriver, mysql: MysqlDriver }[kind];
  return { kind, driver: new Driver(at, tablesUnder(resolved.tablePrefix), resolved) };
}
