import path from "node:path";
import { optionInvalid, resolveSqlStoreOptions, type SqlStoreOptions } from "../options.js";
import { type SqlPaymentStore, SqlStore } from "../sql-store.js";
import { tablesUnder } from "../tables/names.js";
import { type SqliteDatabase } from "./database.js";
import { SqliteDriver } from "./sqlite-driver.js";

/**
 * Keeps everything in one SQLite file, for one or several processes of one host; the embedded default. The file is
 * opened, and its tables made, at the first use. Its directory must exist.
 *
 * The driver is Node's own `node:sqlite` from Node 22.16 on, else `@photostructure/sqlite`. Where the application opens
 * the same file itself, let it use the same driver: two copies of SQLite in one process cancel each other's locks.
 *
 * Transactions of one process run one after the other, in the order in which they asked; reads wait for nobody.
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
  if (typeof file !== "string" || file.trim() === "" || file === ":memory:" || file.startsWith("file:"))
    throw optionInvalid(
      "file",
      "sqliteStore needs the path of a file, so that nothing is forgotten; use MemoryStore in tests.",
    );
  // An address would be taken for a path, and stand in errors with its password.
  if (file.includes("://"))
    throw optionInvalid(
      "file",
      "must be the path of a file, not an address; see postgresStore and mysqlStore.",
    );
  const resolved = resolveSqlStoreOptions(options);
  const tables = tablesUnder(resolved.tablePrefix);
  const absolute = path.resolve(file);
  return Object.assign(new SqlStore(new SqliteDriver(absolute, tables, resolved), tables), {
    file: absolute,
    spoolDirectory: `${absolute}-spool`,
  });
}
