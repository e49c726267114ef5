import { createHash } from "node:crypto";
import { isTillkitError, TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { concealValues, type Dialect } from "../driver/dialect.js";

/** The SQL of PostgreSQL. */
export const postgresDialect: Dialect = {
  name: "postgres",
  // The time of the statement, which may be much later than the begin of the transaction.
  now: "(extract(epoch from statement_timestamp()) * 1000)::bigint",
  rowsPerStatement: 200,
  takesLists: true,
  reportsInserted: true,
  writesInQueries: true,
  commitsInOrder: false,
  maxExpansionRounds: 10,
  sparesIndexes: true,
  listsFewByClient: false,
  locksInScanOrder: false,
  limitsEachQuery: true,
  replacesSavepoints: false,
  forUpdate: "for update",
  forUpdateSkipLocked: "for update skip locked",
  forShare: "for share",
  lockRowsOut: (table) => `lock table ${table} in exclusive mode`,
  forceIndex: () => "",
  // One value is not passed as a list. PostgreSQL assumes ten values in a list, so a plan for the actual list
  // looks much cheaper than the stored plan. PostgreSQL would then plan each call again.
  among: (column, values) =>
    values.length === 1
      ? { sql: `${column} = ?`, params: [...values] }
      : { sql: `${column} = any(?)`, params: [values] },
  // Two index scans without a join take less time to plan and to run.
  amongRows: (column, query) => `${column} = any(array(${query}))`,
  isClashIn: (error, table) => (error as { table?: unknown }).table === table,
  translate(error, place) {
    concealValues(error, ["detail", "where", "internalQuery"]);
    const { code } = error as { code?: unknown };
    if (code === "23505")
      return new TillkitError("store_conflict", "A value that must be unique is taken.", { cause: error });
    if (code === "55P03")
      return new TillkitError("store_busy", "A lock in PostgreSQL was not free in time.", { cause: error });
    if (isSharedSession(error))
      return new TillkitError("store_unavailable", sharedSessions, { cause: error });
    if (code === "25P03") return new TillkitError("store_unavailable", idledTooLong, { cause: error });
    if (code === "08P01" && error instanceof Error && error.message.includes("statement pooling"))
      return new TillkitError("store_unavailable", statementPooling, {
        cause: error,
        fix: "Set pool_mode of PgBouncer to transaction or session.",
      });
    if (isUnreachable(error))
      return new TillkitError("store_unavailable", `PostgreSQL cannot be reached${because(error, place)}`, {
        cause: error,
      });
    if (isUnable(error))
      return new TillkitError(
        "store_unavailable",
        `PostgreSQL cannot execute the statement now${because(error)}`,
        {
          cause: error,
        },
      );
    return error;
  },
  isDeadlock: (error) => isDeadlock(error) || isDeadlock((error as { cause?: unknown }).cause),
};

const sharedSessions =
  "A pooler shares PostgreSQL's sessions, so the kit goes on without prepared statements. Set preparedStatements: false, or ?preparedStatements=false in the address; or set " +
  "max_prepared_statements of PgBouncer 1.21 or newer.";

const statementPooling =
  "A pooler gives each client a session for only one statement, so no transaction is possible.";

const idledTooLong =
  "PostgreSQL ended a transaction that was idle for longer than idle_in_transaction_session_timeout. Make slow calls before its " +
  "first statement, or raise that setting.";

/**
 * Returns whether a prepared statement is missing in its session, or is there already. The cause is a pooler
 * that gave the session to several clients.
 */
export function isSharedSession(error: unknown): boolean {
  return ["26000", "42P05"].includes(String((error as { code?: unknown } | undefined)?.code));
}

/** Returns whether the server ended the transaction in favour of another one. */
function isDeadlock(error: unknown): boolean {
  return ["40P01", "40001"].includes(String((error as { code?: unknown } | undefined)?.code));
}

/**
 * Returns whether one of these is true:
 * - no server answered (errors of a server have a severity)
 * - the server went away (classes 08 and 57P)
 * - the server ended this session, because its transaction was idle (25P03) or took too long (25P04)
 */
function isUnreachable(error: unknown): boolean {
  const { severity, code } = error as { severity?: unknown; code?: unknown };
  if (isTillkitError(error) || error instanceof TypeError) return false;
  return severity === undefined || /^(08|57P|25P0[34])/.test(String(code));
}

/**
 * Returns whether the sessions of this server are no longer usable: the server is a standby now (25006), goes
 * away, or has ended this session. Such a session would stay read-only after a failover.
 */
export function isPostgresSessionOver(error: unknown): boolean {
  const { code, cause = {} } = error as { code?: unknown; cause?: { code?: unknown } };
  return /^(25006|25P0[34]|08...|57P..)$/.test(String(code ?? cause.code));
}

/** Returns whether the server, or the role, accepts no further connection. */
export function isPostgresFull(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "53300";
}

/**
 * Returns whether the server cannot run any statement now, for one of these reasons:
 * - no disk, memory or connection is left (class 53), or a disk fails (58)
 * - the server is a standby (25006), there is no access (28) or no such database (3D000), or rights are
 *   missing (42501)
 * - a person or a time limit stopped the statement (57014)
 * - the server ended the transaction in favour of another one
 */
function isUnable(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code);
  return /^(53...|58...|25006|28...|3D000|42501|57014)$/.test(code) || isDeadlock(error);
}

/** A statement of the kit in the form of PostgreSQL. */
export interface NumberedStatement {
  text: string;
  /**
   * The name under which each connection prepares the statement once. The name is a hash of the text, so
   * another process that shares the session cannot prepare a different statement under this name. Only the
   * first `maxNames` different statements get a name.
   */
  name?: string;
}

const translated = new Map<string, NumberedStatement>();
const maxNames = 300;

/** Returns a statement with `$1`, `$2`, … instead of `?`. The kit uses `?` only for parameters. */
export function numbered(sql: string): NumberedStatement {
  const known = translated.get(sql);
  if (known) return known;
  let count = 0;
  const text = sql.replaceAll("?", () => `$${++count}`);
  if (translated.size >= maxNames) return { text };
  const statement = { text, name: nameOf(text) };
  translated.set(sql, statement);
  return statement;
}

/** Returns the name under which a statement is prepared. */
export function nameOf(text: string): string {
  return `tillkit_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}
