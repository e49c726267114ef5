import { type EventEmitter } from "node:events";
import { type Socket } from "node:net";
import { TillkitError } from "../../../errors/index.js";
import { type Ask } from "../pooled/answer-limits.js";
import { withoutNul } from "../driver/dialect.js";
import { type Purpose } from "../driver/driver.js";
import { driverMissing, keepAliveAfterMs, takeInTime } from "../pooled/connections.js";
import { type Session, type SqlResult } from "../driver/sql-tx.js";

/** The part of a promise connection of the package mysql2 that the kit needs. */
export interface MysqlConnection {
  query(sql: string, params?: unknown): Promise<[unknown, unknown]>;
  release(): void;
  destroy(): void;
}

/** The part of a promise pool of the package mysql2 that the kit needs. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
  query(sql: string, params?: unknown): Promise<[unknown, unknown]>;
  end(): Promise<void>;
}

/** A pool of mysql2, with callbacks or with promises. */
export type AnyMysqlPool = MysqlPool | { promise(): MysqlPool };

/** The maximum time to connect, in milliseconds. */
export const connectTimeoutMs = 3000;

/** Loads the driver at its first use. Inside `try`, a bundler does not require the package. */
async function loadMysql() {
  try {
    return await import("mysql2/promise");
  } catch (cause) {
    throw driverMissing("mysql2", "mysqlStore", cause);
  }
}

/** Opens a pool of the kit's own. */
export async function openMysqlPool(
  url: string,
  maxConnections: number,
  options: { multipleStatements?: true } = {},
): Promise<MysqlPool> {
  const module = await loadMysql();
  const { createPool } = module.default ?? module;
  return createPool({
    uri: url,
    connectionLimit: maxConnections,
    connectTimeout: connectTimeoutMs,
    charset: "utf8mb4",
    enableKeepAlive: true,
    keepAliveInitialDelay: keepAliveAfterMs,
    ...options,
  });
}

/** Returns the number of connections of an application's pool, if the pool shows it. */
export function sizeOf(pool: AnyMysqlPool): number | undefined {
  const { pool: inner = pool } = pool as { pool?: object };
  return (inner as { config?: { connectionLimit?: number } }).config?.connectionLimit;
}

/** Returns whether callers wait for a free connection of the pool, if the pool shows it. */
export function hasWaitingCallers(pool: AnyMysqlPool): boolean {
  const { pool: inner = pool } = pool as { pool?: object };
  return ((inner as { _connectionQueue?: { length: number } })._connectionQueue?.length ?? 0) > 0;
}

/**
 * Takes a connection of the pool. The pool would wait forever for a free one, so this rejects after a time
 * limit. The error contains `shortage`.
 */
export function connectionOf(pool: MysqlPool, shortage = ""): Promise<MysqlConnection> {
  const message = `No connection of the MySQL pool was free in time. ${shortage}`.trim();
  const tooLate = (): Error => new TillkitError("store_unavailable", message);
  return takeInTime(pool.getConnection(), connectTimeoutMs, tooLate);
}

/** Runs statements of the kit on a connection. */
export function sessionOn(
  connection: MysqlConnection,
  ask: Ask = (send) => send(),
  purpose?: Purpose,
): Session {
  const send = (sql: string, params: readonly unknown[]) => connection.query(sql, params.map(withoutNul));
  return { run: async (sql, params) => mysqlResult(await ask(() => send(sql, params), purpose)) as never };
}

/** Returns the result of a statement, with its rows if it returns any. */
export function mysqlResult([answer]: readonly unknown[]): SqlResult {
  if (Array.isArray(answer)) return { rows: answer as Record<string, unknown>[], affected: answer.length };
  const { affectedRows = 0, info = "" } = answer as { affectedRows?: number; info?: string };
  // Some pools count only changed rows. An update that changes nothing has still found its row.
  const matched = /Rows matched: (\d+)/.exec(info)?.[1];
  return { rows: [], affected: matched === undefined ? affectedRows : Number(matched) };
}

/** Returns whether an error came from the server. Only errors of the server have `sqlState`. */
export function hasServerAnswered(error: unknown): boolean {
  return (error as { sqlState?: unknown }).sqlState !== undefined;
}

/** Returns whether the server is in a Galera cluster, or in a group whose members all accept writes. */
export async function hasSeveralWriters(session: Session): Promise<boolean> {
  const { rows } = await session.run(
    `show variables where (variable_name = 'wsrep_on' and value = 'ON')
      or (variable_name = 'group_replication_single_primary_mode' and value = 'OFF')`,
    [],
  );
  return rows.length > 0;
}

/**
 * Returns whether the server reports that a connection waits for a lock. The state shows only locks of
 * tables. The list of transactions shows locks of rows, and needs the right PROCESS.
 */
export async function mysqlWaitsForLock(asking: Session, connection: MysqlConnection): Promise<boolean> {
  const { threadId } = connection as { threadId?: number | null };
  const ofTable =
    "select 1 from information_schema.processlist where id = ? and state like 'Waiting for%lock%'";
  const ofRow =
    "select 1 from information_schema.innodb_trx where trx_mysql_thread_id = ? and trx_state = 'LOCK WAIT'";
  for (const sql of [ofTable, ofRow])
    if ((await asking.run(sql, [threadId ?? null])).rows.length > 0) return true;
  return false;
}

/**
 * Returns the driver's own connection. This connection stays the same when the pool gives it out in a new
 * wrapper.
 */
export function physical(connection: MysqlConnection): { stream?: Partial<Socket> } {
  return (connection as { connection?: object }).connection ?? connection;
}

/**
 * Ends a connection, even while a statement runs on it. mysql2's `destroy` would wait for the server to close
 * its side, so this function also destroys the socket. Otherwise, the statement would never end.
 */
export function cutOffConnection(connection: MysqlConnection): void {
  // Without a listener, an error of the socket would end the process.
  (physical(connection) as Partial<EventEmitter>).on?.("error", () => undefined);
  physical(connection).stream?.destroy?.(new Error("The connection was cut off."));
  connection.destroy();
}
