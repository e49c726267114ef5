import { closeSync, lstatSync, openSync, statSync } from "node:fs";
import { errorFixes } from "../../../errors/index.js";
import { refuseExposed } from "../../../shared/exposed-path.js";
import { type SqlResult } from "../driver/sql-tx.js";
import { SqliteConnection } from "./connection.js";
import { loadDriver, openDatabase, retryBusy } from "./database.js";

/** The two connections to one file. */
export interface SqliteConnections {
  writer: SqliteConnection;
  reader: SqliteConnection;
  /** Whether commits go to a write-ahead log. */
  hasLog: boolean;
  /** The paths of the file, its log and the log's index, each with its identity at the time of opening. */
  files: [path: string, inode: string | undefined][];
  warnings: string[];
}

/**
 * Opens both connections and makes their commits durable, independent of the driver's defaults.
 *
 * @throws TillkitError `path_exposed`, `driver_missing`, `store_unavailable`, `store_busy`
 */
export async function openConnections(file: string, busyTimeoutMs: number): Promise<SqliteConnections> {
  const { DatabaseSync } = await loadDriver();
  createPrivate(file);
  refuseExposedFiles(file);
  const opened: SqliteConnection[] = [];
  const open = (): SqliteConnection => {
    const connection = new SqliteConnection(openDatabase(DatabaseSync, file));
    opened.push(connection);
    return connection;
  };
  // Even a setting reads the file, which another process may be creating now.
  const run = (connection: SqliteConnection, sql: string): Promise<SqlResult> =>
    retryBusy(file, busyTimeoutMs, () => connection.run(sql, []));
  try {
    const writer = open();
    // Waiting inside SQLite would block the event loop. `retryBusy` waits instead.
    await run(writer, "pragma busy_timeout = 0");
    const version = String((await run(writer, "select sqlite_version() as version")).rows[0]!["version"]);
    const affected = isAffected(version);
    await run(writer, `pragma journal_mode = ${affected ? "delete" : "wal"}`);
    // EXTRA also syncs the directory after the journal was deleted. For a write-ahead log, FULL is enough.
    await run(writer, `pragma synchronous = ${affected ? "extra" : "full"}`);
    // A checkpoint syncs the file and blocks everything meanwhile. The default of 1,000 pages means one
    // checkpoint for every hundred webhooks. With 4,000 pages, the log grows to 16 MiB instead of 4.
    await run(writer, "pragma wal_autocheckpoint = 4000");
    // In KiB. Keys are scattered, and the default of 2 MiB holds only the indexes of a few thousand payments.
    await run(writer, "pragma cache_size = -32768");
    const reader = open();
    await run(reader, "pragma busy_timeout = 0");
    await run(reader, "pragma query_only = 1");
    // The first read creates the log.
    await run(reader, "select 1 from sqlite_master");
    const endings = affected ? [""] : ["", "-wal", "-shm"];
    const files = endings.map((ending): [string, string | undefined] => [
      file + ending,
      inodeAt(file + ending),
    ]);
    const warning = `sqlite_version_affected: SQLite ${version} can lose a committed write with a write-ahead log.`;
    const warnings = affected ? [`${warning} ${errorFixes.sqlite_version_affected}`] : [];
    return { writer, reader, hasLog: !affected, files, warnings };
  } catch (error) {
    for (const connection of opened) connection.close();
    throw error;
  }
}

/** Creates a missing file that only this user can read. SQLite gives its log and journal the same mode. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // If the file exists, it must not be opened here, because closing it would release this process's locks.
    // SQLite will report any other problem.
  }
}

/**
 * Refuses files that other users could have written. SQLite would use the content of a log or journal that
 * they made.
 *
 * @throws TillkitError `path_exposed`
 */
export function refuseExposedFiles(file: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) {
    const stats = lstatSync(file + ending, { throwIfNoEntry: false });
    if (stats) refuseExposed(file + ending, stats, "file");
  }
}

/**
 * Returns whether this version of SQLite can lose a committed write when two connections write and checkpoint
 * a write-ahead log at the same time. The fault exists from 3.7.0 to 3.51.2, except for 3.44.6 and later
 * patches of 3.44, and for 3.50.7 and later patches of 3.50.
 */
export function isAffected(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 3 || minor < 7 || minor > 51) return false;
  if (minor === 51) return patch <= 2;
  if (minor === 50) return patch < 7;
  if (minor === 44) return patch < 6;
  return true;
}

/** Returns the identity of the file at a path. Opening and closing it would release SQLite's locks. */
export function inodeAt(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
