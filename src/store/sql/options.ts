import { ConfigurationError } from "../../errors/index.js";
import { optionInvalid, type NamesOf, unknownOptions } from "../../shared/unknown-names.js";
import { isWholeNumber } from "../../shared/whole-number.js";

/** Options of every SQL store. */
export interface SqlStoreOptions {
  /**
   * The beginning of the names of the kit's tables: 1 to 32 lower-case letters, digits and underscores. A
   * digit cannot be the first character.
   *
   * @default "tillkit_"
   */
  tablePrefix?: string | undefined;
  /**
   * The time, from 0 to 3,600,000 milliseconds, for which a statement of the kit may wait for another
   * transaction's lock. After this time, the statement rejects with `store_busy`. On PostgreSQL, and on MySQL
   * with the store's own pool, it also limits a handler's statements. On both, a short statement of the kit
   * may have no answer for one to three seconds more. The kit then cuts the connection off, and the statement
   * rejects with `store_unavailable`.
   *
   * @default 3000
   */
  busyTimeoutMs?: number | undefined;
  /**
   * The maximum number of connections of the store's own pool, on PostgreSQL and MySQL, from 5 to 1000. The
   * pool opens a connection when it is needed. Handlers' transactions can use all but four connections, so
   * that recording continues even if many handlers run.
   *
   * @default 16
   */
  maxConnections?: number | undefined;
  /**
   * Whether each connection prepares statements once and then reuses them: the kit's own statements, and
   * writes that handlers repeat. The option needs PostgreSQL and the store's own pool. If a pooler gives one
   * session to several clients, the kit prepares none. An example is PgBouncer before 1.21 in transaction
   * mode. In an address: `?preparedStatements=false`.
   *
   * @default true
   */
  preparedStatements?: boolean | undefined;
}

/** Options with their defaults. */
export type ResolvedSqlStoreOptions = {
  [Name in keyof SqlStoreOptions]-?: NonNullable<SqlStoreOptions[Name]>;
};

/** The number of connections for recording, claims, leases and listening, which handlers cannot occupy. */
export const reservedConnections = 4;

/** Returns a sentence if an application's pool is too small for this many concurrent handlers, else "". */
export function poolShortage(size: number | undefined, concurrency: number): string {
  const needed = concurrency + reservedConnections;
  if (size === undefined || size >= needed) return "";
  return `The pool has ${size} connections, and the kit needs ${needed}.`;
}

/**
 * Checks options and adds the defaults.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function resolveSqlStoreOptions(options: SqlStoreOptions = {}): ResolvedSqlStoreOptions {
  const { tablePrefix = "tillkit_", busyTimeoutMs = 3000, maxConnections = 16 } = options;
  const { preparedStatements = true } = options;
  const resolved: NamesOf<SqlStoreOptions> & ResolvedSqlStoreOptions = {
    tablePrefix,
    busyTimeoutMs,
    maxConnections,
    preparedStatements,
  };
  const unknown = unknownOptions("", options, resolved);
  if (unknown.length > 0) throw new ConfigurationError(unknown);
  if (!/^[a-z_][a-z0-9_]{0,31}$/.test(tablePrefix))
    throw optionInvalid(
      "tablePrefix",
      "must be 1 to 32 lower-case letters, digits and underscores, and not begin with a digit.",
    );
  if (!isWholeNumber(busyTimeoutMs, 0, 3_600_000))
    throw optionInvalid("busyTimeoutMs", "must be a whole number of milliseconds from 0 to 3600000.");
  if (!isWholeNumber(maxConnections, reservedConnections + 1, 1000))
    throw optionInvalid("maxConnections", `must be a whole number from ${reservedConnections + 1} to 1000.`);
  if (typeof preparedStatements !== "boolean")
    throw optionInvalid("preparedStatements", "must be true or false.");
  return resolved;
}
