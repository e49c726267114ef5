import { type EventEmitter } from "node:events";
import { type Duplex } from "node:stream";
import { loadPackage } from "../load-package.js";

/** What the kit needs of a client of the package pg. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<PostgresAnswer>;
  release(error?: Error | boolean): void;
}

/** What the kit needs of a `Pool` of the package pg. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  query(sql: string, params?: unknown[]): Promise<PostgresAnswer>;
  end(): Promise<void>;
}

/**
 * The same client as an emitter. Kept out of the public type, which the overloads of pg's own types would not fit.
 */
export function eventsOf(client: PostgresClient): EventEmitter & { unref?: () => void } {
  return client as unknown as EventEmitter;
}

export interface PostgresAnswer {
  rows: unknown[];
  rowCount: number | null;
  command: string;
}

/** Opens a pool of the kit's own. An idle one does not keep the process alive. */
export async function openPostgresPool(
  url: string,
  maxConnections: number,
  options: { pipeline?: true; stream?: () => Duplex } = {},
): Promise<PostgresPool> {
  const module = await loadPackage("pg", "postgresStore", () => import("pg"));
  const { Pool } = module.default ?? module;
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 3000,
    allowExitOnIdle: true,
    application_name: "tillkit",
    ...options,
  });
  // An idle connection that breaks is replaced at the next use; unheard, its error would end the process.
  pool.on("error", () => undefined);
  // Nor may one that breaks between being handed out and the first `await` after it, when nobody listens yet.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return pool;
}

/** Reads an address as pg does: it forgives bare spaces and percent signs, and a user in front of no host. */
export function readPostgresAddress(address: string): URL {
  const isForgiven = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(address);
  const text = isForgiven ? encodeURI(address).replaceAll(/%25(\d\d)/g, "%$1") : address;
  return new URL(text.replace("@/", "@localhost/"));
}
