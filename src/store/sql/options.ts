import { ConfigurationError } from "../../errors/index.js";
import { isWholeNumber } from "../../shared/whole-number.js";

/** Options of every SQL store. */
export interface SqlStoreOptions {
  /**
   * What the names of the kit's tables begin with: lower-case letters, digits and underscores, at most 32.
   *
   * @default "tillkit_"
   */
  tablePrefix?: string | undefined;
  /**
   * How long, in milliseconds, a statement of the kit may wait for a lock that somebody else holds, before it rejects with
   * `store_busy`. On PostgreSQL, and on MySQL with a pool of the store's own, it covers a handler's statements too.
   *
   * @default 3000
   */
  busyTimeoutMs?: number | undefined;
  /**
   * Most connections of a pool of the store's own, on PostgreSQL and MySQL; at least 5. They are opened as they are needed.
   * Handlers' transactions get all but four of them and wait for their turn beyond that, so that recording goes on
   * however many handlers run.
   *
   * @default 16
   */
  maxConnections?: number | undefined;
  /**
   * Whether the kit's own statements are prepared once per connection, on PostgreSQL with a pool of the store's own. Turn
   * it off behind a pooler that hands one session to several clients, such as PgBouncer before 1.21 in transaction mode.
   *
   * @default true
   */
  preparedStatements?: boolean | undefined;
}

/** Options with nothing left open. */
export interface ResolvedSqlStoreOptions {
  tablePrefix: string;
  busyTimeoutMs: number;
  maxConnections: number;
  preparedStatements: boolean;
}

/** For recording, claiming, leases and listening: what must go on while every handler holds a connection. */
export const reservedConnections = 4;

export function resolveSqlStoreOptions(options: SqlStoreOptions = {}): ResolvedSqlStoreOptions {
  const { tablePrefix = "tillkit_", busyTimeoutMs = 3000, maxConnections = 16 } = options;
  const { preparedStatements = true } = options;
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
  return { tablePrefix, busyTimeoutMs, maxConnections, preparedStatements };
}

export function optionInvalid(option: string, message: string): ConfigurationError {
  return new ConfigurationError([{ code: "option_invalid", option, message }]);
}
