import { isTillkitError, TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { concealValues, type Dialect, placeholders } from "../driver/dialect.js";
import { hasServerAnswered } from "./pool.js";

/**
 * The errors after which the server cannot run any statement now:
 * - the disk (1021, 1026), a table (1114) or the memory (1037, 1038, 1041) is full
 * - there are too many connections (1040, 1135, 1203, 1226)
 * - the server shuts down (1053), is read-only (1290, 1792, 1836, 1874), or is no longer in its group (3100)
 * - the connection was killed (1317, 1927, 3169), idle for too long (4031), or stopped by a time limit (1969,
 *   3024)
 * - access (1044, 1045, 1129, 1698), rights (1142) or the database (1049) is missing
 */
const unable = [
  1021, 1026, 1037, 1038, 1040, 1041, 1053, 1114, 1135, 1203, 1226, 1290, 1317, 1792, 1836, 1927, 1044, 1045,
  1049, 1129, 1142, 1698, 1874, 1969, 3024, 3100, 3169, 4031,
];

/**
 * The errors after which a transaction may run again: a deadlock, including one with a transaction of another
 * server (1213), a refusal by group replication at the commit (3101), and a member of a cluster that is not
 * ready (1047).
 */
const conflicts = [1213, 3101, 1047];

/**
 * Returns whether the sessions of this server are no longer usable: the server is read-only now (1290, 1836,
 * 1874), leaves its cluster (1047, 3100), goes away (1053) or has ended this session (1927, 3169, 4031). Such
 * a session would stay read-only after a failover.
 */
export function isMysqlSessionOver(error: unknown): boolean {
  const { errno, message } = error as { errno?: number; message?: string };
  // Error 1290 can also name another option of the server.
  if (errno === 1290) return /read[-_]only/.test(String(message));
  return [1836, 1874, 1047, 3100, 1053, 1927, 3169, 4031].includes(Number(errno));
}

/** The SQL of MySQL and MariaDB. */
export const mysqlDialect: Dialect = {
  name: "mysql",
  // `unix_timestamp(now())` depends on the session's time zone, in which one hour of a year may occur twice.
  now: "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000",
  rowsPerStatement: 50,
  takesLists: false,
  reportsInserted: false,
  writesInQueries: false,
  commitsInOrder: false,
  maxExpansionRounds: 10,
  sparesIndexes: false,
  listsFewByClient: false,
  locksInScanOrder: true,
  limitsEachQuery: false,
  replacesSavepoints: true,
  forUpdate: "for update",
  forUpdateSkipLocked: "for update skip locked",
  // The older form, which MariaDB supports, too.
  forShare: "lock in share mode",
  // Without this, MySQL reads all payments of a state that come before the page.
  forceIndex: (index) => `force index (${index})`,
  among: (column, values) =>
    values.length === 0
      ? { sql: "1 = 0", params: [] }
      : { sql: `${column} in (${placeholders(values.length)})`, params: [...values] },
  // In every language, the message ends with the quoted name of the key. MySQL 8 adds the table's name.
  isClashIn: (error, table) =>
    /'(?:[^'.]*\.)?([^'.]*)'[^']*$/.exec((error as Error).message)?.[1]?.startsWith(`${table}_`) === true,
  translate(error, place) {
    concealValues(error, ["sql"]);
    const { errno } = error as { errno?: unknown };
    if (errno === 1062)
      return new TillkitError("store_conflict", "A value that must be unique is taken.", { cause: error });
    if (errno === 1205)
      return new TillkitError("store_busy", "A lock in MySQL was not free in time.", { cause: error });
    if (!hasServerAnswered(error) && !(error instanceof TypeError) && !isTillkitError(error))
      return new TillkitError("store_unavailable", `MySQL cannot be reached${because(error, place)}`, {
        cause: error,
      });
    if (conflicts.includes(Number(errno)) || unable.includes(Number(errno)))
      return new TillkitError(
        "store_unavailable",
        `MySQL cannot execute the statement now${because(error)}`,
        {
          cause: error,
        },
      );
    return error;
  },
  isDeadlock: (error) =>
    [error, (error as { cause?: unknown }).cause].some((each) =>
      conflicts.includes(Number((each as { errno?: unknown } | undefined)?.errno)),
    ),
};

/** Returns whether the server, or the user, accepts no further connection. */
export function isMysqlFull(error: unknown): boolean {
  return [1040, 1203, 1226].includes(Number((error as { errno?: unknown } | undefined)?.errno));
}
