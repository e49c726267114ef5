import { errorFixes } from "../../../errors/index.js";
import { SqliteConnection } from "./connection.js";
import { loadDriver, openDatabase } from "./database.js";
import { retryBusy } from "./retry-busy.js";
import { isAffected } from "./version.js";

export interface SqliteConnections {
  writer: SqliteConnection;
  reader: SqliteConnection;
  /** Whether commits go to a write-ahead log. */
  hasLog: boolean;
  warnings: string[];
}

/** Opens both connections and makes them durable, whatever the driver's defaults are. */
export async function openConnections(file: string, busyTimeoutMs: number): Promise<SqliteConnections> {
  const DatabaseSync = await loadDriver();
  const opened: SqliteConnection[] = [];
  const open = (): SqliteConnection => {
    const connection = new SqliteConnection(openDatabase(DatabaseSync, file));
    opened.push(connection);
    // Waiting inside SQLite would block the event loop; `retryBusy` waits instead.
    connection.exec("pragma busy_timeout = 0");
    return connection;
  };
  try {
    const writer = open();
    const version = String(writer.run("select sqlite_version() as version", []).rows[0]!["version"]);
    const affected = isAffected(version);
    const journal = affected ? "delete" : "wal";
    await retryBusy(busyTimeoutMs, () => writer.exec(`pragma journal_mode = ${journal}`));
    // EXTRA also syncs the directory after the rollback journal is gone; a write-ahead log needs FULL, and no more.
    writer.exec(`pragma synchronous = ${affected ? "extra" : "full"}`);
    // A checkpoint syncs the file itself and stops everything meanwhile. The kit writes some nine pages for a lone
    // webhook, so with the default of 1,000 one would come every hundred; the log grows to 16 MiB instead of 4.
    writer.exec("pragma wal_autocheckpoint = 4000");
    // In KiB. Keys are random, and the default of 2 MiB holds the indexes of a few thousand payments.
    writer.exec("pragma cache_size = -32768");
    const reader = open();
    reader.exec("pragma query_only = 1");
    return { writer, reader, hasLog: !affected, warnings: affected ? [affectedWarning(version)] : [] };
  } catch (error) {
    for (const connection of opened) connection.close();
    throw error;
  }
}

function affectedWarning(version: string): string {
  return (
    `sqlite_version_affected: SQLite ${version} can lose a committed write with a write-ahead log. ` +
    errorFixes.sqlite_version_affected
  );
}
