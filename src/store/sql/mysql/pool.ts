import { type EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { TillkitError } from "../../../errors/index.js";
import { loadPackage } from "../load-package.js";

/** What the kit needs of a promise connection of the package mysql2. */
export interface MysqlConnection {
  query(sql: string, params?: unknown): Promise<[unknown, unknown]>;
  release(): void;
  destroy(): void;
}

/** What the kit needs of a promise pool of the package mysql2. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
  query(sql: string, params?: unknown): Promise<[unknown, unknown]>;
  end(): Promise<void>;
}

/** A pool of mysql2, of either kind. */
export type AnyMysqlPool = MysqlPool | { promise(): MysqlPool };

export const connectTimeoutMs = 3000;

/** Opens a pool of the kit's own. */
export async function openMysqlPool(
  url: string,
  maxConnections: number,
  options: { multipleStatements?: true } = {},
): Promise<MysqlPool> {
  const module = await loadPackage("mysql2", "mysqlStore", () => import("mysql2/promise"));
  const { createPool } = module.default ?? module;
  return createPool({
    uri: url,
    connectionLimit: maxConnections,
    connectTimeout: connectTimeoutMs,
    charset: "utf8mb4",
    ...options,
  });
}

/** A connection of the pool, which by itself would wait for ever for a free one. */
export async function connectionOf(pool: MysqlPool): Promise<MysqlConnection> {
  const connecting = pool.getConnection();
  const given = new AbortController();
  const tooLate = delay(connectTimeoutMs, undefined, { signal: given.signal }).then(
    () =>
      Promise.reject(
        new TillkitError("store_unavailable", "No connection of the MySQL pool was free in time."),
      ),
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([connecting, tooLate]);
  } catch (error) {
    // One that comes after all goes straight back.
    connecting.then(
      (connection) => connection.release(),
      () => undefined,
    );
    throw error;
  } finally {
    given.abort();
  }
}

/** The server's own errors carry a state; where there is none, no server answered. */
export function hasServerAnswered(error: unknown): boolean {
  return (error as { sqlState?: unknown }).sqlState !== undefined;
}

/** What stays the same when the pool hands a connection out again, in a new wrapper. */
export function physical(connection: MysqlConnection): {
  stream?: { ref?: () => void; unref?: () => void; destroy?: (error: Error) => void };
} {
  return (connection as { connection?: object }).connection ?? connection;
}

/**
 * Throws a connection away, also while a statement runs on it: `destroy` alone would wait for the server to close its
 * side, and leave the statement without an end.
 */
export function cutOff(connection: MysqlConnection): void {
  // What the socket says about it may find nobody else who listens.
  (physical(connection) as Partial<EventEmitter>).on?.("error", () => undefined);
  physical(connection).stream?.destroy?.(new Error("The connection was cut off."));
  connection.destroy();
}
