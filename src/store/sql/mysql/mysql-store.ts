import { resolveSqlStoreOptions, type SqlStoreOptions } from "../options.js";
import { requireUrlOrPool } from "../require-url-or-pool.js";
import { type SqlPaymentStore, SqlStore } from "../sql-store.js";
import { tablesUnder } from "../tables/names.js";
import { MysqlDriver } from "./mysql-driver.js";
import { type AnyMysqlPool, type MysqlConnection } from "./pool.js";

/**
 * Keeps everything in a MySQL (8.0.17 or newer) or MariaDB (10.6 or newer) database, for any number of processes and
 * hosts. Needs the package `mysql2`. Nothing is opened before the first use, which also makes the tables.
 *
 * Each transaction holds one connection of the pool until it ends, at READ COMMITTED; give your own pool at least four
 * more connections than there are handlers running at once, or handlers can keep webhooks from being recorded. The connection's character set
 * must be utf8mb4, which is the driver's default.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy` (a lock not free in time: `busyTimeoutMs`, rounded up to
 * seconds, or the server's own setting with a pool of the caller's), `schema_too_new`, `store_closed`.
 *
 * @param urlOrPool - `mysql://…` for a pool of the store's own (`maxConnections` of them, 3 s to connect), closed by `close()`; or a
 * pool of mysql2, which stays the caller's to close.
 * @throws ConfigurationError with `option_invalid`.
 */
export function mysqlStore(
  urlOrPool: string | AnyMysqlPool,
  options?: SqlStoreOptions,
): SqlPaymentStore<MysqlConnection> {
  requireUrlOrPool(urlOrPool, ["mysql:", "mariadb:"]);
  const resolved = resolveSqlStoreOptions(options);
  const tables = tablesUnder(resolved.tablePrefix);
  return new SqlStore(new MysqlDriver(urlOrPool, tables, resolved), tables);
}
