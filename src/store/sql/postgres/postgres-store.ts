import { resolveSqlStoreOptions, type SqlStoreOptions } from "../options.js";
import { requireUrlOrPool } from "../require-url-or-pool.js";
import { type SqlPaymentStore, SqlStore } from "../sql-store.js";
import { tablesUnder } from "../tables/names.js";
import { type PostgresClient, type PostgresPool, readPostgresAddress } from "./pool.js";
import { PostgresDriver } from "./postgres-driver.js";

/**
 * Keeps everything in a PostgreSQL database (12 or newer), for any number of processes and hosts. Needs the package
 * `pg`. Nothing is opened before the first use, which also makes the tables, in the first schema of the search path.
 *
 * Each transaction holds one client of the pool until it ends; give your own pool at least four more clients than there
 * are handlers running at once, or handlers can keep webhooks from being recorded.
 *
 * Rejections: `driver_missing`, `store_unavailable`, `store_busy` (a lock not free within `busyTimeoutMs`),
 * `schema_too_new`, `store_closed`.
 *
 * @param urlOrPool - `postgres://…` for a pool of the store's own (`maxConnections` clients, 3 s to connect), closed by `close()`; or a
 * `Pool` of pg, which stays the caller's to close, and whose `error` event is the caller's to hear.
 * @throws ConfigurationError with `option_invalid`.
 */
export function postgresStore(
  urlOrPool: string | PostgresPool,
  options?: SqlStoreOptions,
): SqlPaymentStore<PostgresClient> {
  requireUrlOrPool(urlOrPool, ["postgres:", "postgresql:"], readPostgresAddress);
  const resolved = resolveSqlStoreOptions(options);
  const tables = tablesUnder(resolved.tablePrefix);
  return new SqlStore(new PostgresDriver(urlOrPool, tables, resolved), tables);
}
