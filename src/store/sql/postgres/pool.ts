import { type EventEmitter } from "node:events";
import { type Socket } from "node:net";
import { type Duplex } from "node:stream";
import { TillkitError } from "../../../errors/index.js";
import { type Ask } from "../pooled/answer-limits.js";
import { driverMissing, type endsOf, keepAliveAfterMs, takeInTime, takeOpen } from "../pooled/connections.js";
import { isPostgresFull } from "./postgres-dialect.js";
import { type Session, type SqlResult } from "../driver/sql-tx.js";

/** The part of a client of the package pg that the kit needs. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<PostgresAnswer>;
  release(error?: Error | boolean): void;
}

/** A client, with a function that sends statements on it, and functions that give it back. */
export interface WatchedClient extends ReturnType<typeof endsOf<PostgresAnswer>> {
  client: PostgresClient;
  ask: Ask;
}

/** The part of a `Pool` of the package pg that the kit needs. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  query(sql: string, params?: unknown[]): Promise<PostgresAnswer>;
  end(): Promise<void>;
  /** The settings of the pool. `max` is the number of its clients. */
  readonly options?: { max?: number | undefined; connectionTimeoutMillis?: number | undefined };
  /** The number of callers that wait for a free client. */
  readonly waitingCount?: number | undefined;
}

/** The result of a query of the package pg. */
export interface PostgresAnswer {
  rows: unknown[];
  rowCount: number | null;
  command: string;
}

/** Returns the client as an event emitter. pg's own overloads would not fit the public type. */
export function eventsOf(client: PostgresClient): EventEmitter & { unref?: () => void } {
  return client as unknown as EventEmitter;
}

/** Returns the socket of a client. pg's types do not show it. */
export function socketOf(client: PostgresClient): Partial<Socket> | undefined {
  return (client as { connection?: { stream?: Partial<Socket> } }).connection?.stream;
}

/**
 * Returns whether the server reports that a client waits for a lock. Behind a pooler, the server does not
 * know the client, so the result is `false`.
 */
export async function postgresWaitsForLock(asking: Session, client: PostgresClient): Promise<boolean> {
  const { processID } = client as { processID?: number };
  const sql = "select 1 from pg_stat_activity where pid = ? and wait_event_type = 'Lock'";
  const { rows } = await asking.run(sql, [processID ?? null]);
  return rows.length > 0;
}

/** The maximum wait, in milliseconds, for a client of a pool that has no limit itself. */
const maxConnectMs = 10_000;

/** Takes a client. If the server accepts no more connections, waits for a free client. */
export function takeClient(pool: PostgresPool): Promise<PostgresClient> {
  return takeOpen(() => clientOf(pool), isPostgresFull);
}

/**
 * Takes a client of the pool. Without a limit, pg waits forever for a free client, and for a server that does
 * not answer.
 */
function clientOf(pool: PostgresPool): Promise<PostgresClient> {
  const connecting = pool.connect();
  if (pool.options?.connectionTimeoutMillis) return connecting;
  const tooLate = () => new Error(`timeout exceeded: the pool gave no client within ${maxConnectMs} ms`);
  return takeInTime(connecting, maxConnectMs, tooLate);
}

/** Ends a client. pg would wait for a server that may be gone, so this function also closes the socket. */
export function cutOffClient(client: PostgresClient, error: Error): void {
  client.release(error);
  socketOf(client)?.destroy?.();
}

/** Returns the result of a statement. */
export function postgresResult({ rows, rowCount }: PostgresAnswer): SqlResult {
  return { rows: rows as Record<string, unknown>[], affected: rowCount ?? 0 };
}

/** Throws if the commit was in fact a rollback, for example after a failure that the kit did not see. */
export function expectCommitted({ command }: PostgresAnswer): void {
  if (command !== "COMMIT")
    throw new TillkitError("transaction_poisoned", "PostgreSQL rolled the transaction back.");
}

/** Loads the driver at its first use. Inside `try`, a bundler does not require the package. */
async function loadPg() {
  try {
    return await import("pg");
  } catch (cause) {
    throw driverMissing("pg", "postgresStore", cause);
  }
}

/** Opens a pool of the kit's own. An idle pool does not keep the process alive. */
export async function openPostgresPool(
  url: string,
  maxConnections: number,
  options: { pipeline?: true; stream?: () => Duplex } = {},
): Promise<PostgresPool> {
  const module = await loadPg();
  const { Pool } = module.default ?? module;
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 3000,
    allowExitOnIdle: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    application_name: "tillkit",
    ...options,
  });
  // The pool replaces a broken idle connection. Without a listener, its error would end the process.
  pool.on("error", () => undefined);
  // A connection may break before the code that gets it can listen.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return pool;
}
