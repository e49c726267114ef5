import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";

/** The part of `DatabaseSync` that the kit needs, of node:sqlite or of `@photostructure/sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  all(...params: unknown[]): unknown[];
  run(...params: unknown[]): { changes: number | bigint };
  columns(): readonly unknown[];
}

/** The part of `node:sqlite` that the kit needs. */
export interface SqliteModule {
  DatabaseSync: DatabaseConstructor;
  /** Copies a database to another file in another thread. `rate` is the number of pages in each step. */
  backup(this: void, source: SqliteDatabase, to: string, options: { rate: number }): Promise<unknown>;
}

type DatabaseConstructor = new (file: string, options?: { readOnly: boolean }) => SqliteDatabase;

/**
 * Loads the driver. From Node 22.16 on, the driver is Node's own. In earlier versions, this driver lacks
 * parts that the kit uses. There, the driver is `@photostructure/sqlite`, which has the same interface, and
 * which the application must install.
 *
 * @throws TillkitError `driver_missing`
 */
export async function loadDriver(): Promise<SqliteModule> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const builtIn =
    major > 22 || (major === 22 && minor >= 16) ? process.getBuiltinModule?.("node:sqlite") : undefined;
  if (builtIn) return builtIn as SqliteModule;
  try {
    return await import("@photostructure/sqlite");
  } catch (cause) {
    throw new TillkitError(
      "driver_missing",
      `Node ${process.versions.node} has no SQLite that can be used here; run "npm install @photostructure/sqlite", or ` +
        "upgrade to Node 22.16 or newer. In a bundle, leave the package outside: mark it as external.",
      { cause },
    );
  }
}

/**
 * Opens a file.
 *
 * @throws TillkitError `store_unavailable`
 */
export function openDatabase(
  DatabaseSync: DatabaseConstructor,
  file: string,
  options: { readOnly: boolean } = { readOnly: false },
): SqliteDatabase {
  try {
    return new DatabaseSync(file, options);
  } catch (cause) {
    const why = because(refusalOf(file, options.readOnly) ?? cause);
    throw new TillkitError("store_unavailable", `The SQLite file ${file} cannot be opened${why}`, { cause });
  }
}

/** Returns the system's error for the file, or for a missing file's folder. SQLite gives no reason. */
function refusalOf(file: string, readOnly: boolean): unknown {
  try {
    const { R_OK, W_OK } = constants;
    accessSync(existsSync(file) ? file : path.dirname(file), readOnly ? R_OK : R_OK | W_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Runs a synchronous piece of SQLite, and repeats it while another connection holds the necessary lock. A
 * timer waits between the attempts. SQLite's own busy timeout would block the event loop that the lock's
 * holder may need.
 */
export async function retryBusy<T>(file: string, timeoutMs: number, run: () => T): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= deadline)
        throw new TillkitError("store_busy", `The SQLite file ${file} stayed locked for ${timeoutMs} ms.`, {
          cause: error,
        });
    }
    await delay(pause * (0.5 + Math.random() / 2));
  }
}

/** Returns whether another connection holds a lock that the statement needs (SQLITE_BUSY). */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5;
}

/** Returns whether a value that must be unique is taken. */
export function isUniqueClash(error: unknown): boolean {
  const code = errcode(error);
  return code === 2067 || code === 1555;
}

/**
 * Returns whether no statement can write or read the file now. The disk may be full (13) or fail (10). The
 * file may be missing (14), read-only (8), damaged (11) or not a database (26).
 */
export function isUnavailable(error: unknown): boolean {
  return [8, 10, 11, 13, 14, 26].includes(primaryCode(error));
}

function primaryCode(error: unknown): number {
  return errcode(error) & 0xff;
}

function errcode(error: unknown): number {
  // Under a runner that isolates modules, `instanceof Error` fails for the driver's errors.
  if (typeof error !== "object" || error === null) return 0;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode;
  // `all()` of @photostructure/sqlite 1.2.1 loses the code, so the code is found by SQLite's message.
  if (!("code" in error) || error.code !== "ERR_SQLITE_ERROR" || !("message" in error)) return 0;
  const message = String(error.message);
  return codesOfMessages.find(([start]) => message.startsWith(start))?.[1] ?? 0;
}

const codesOfMessages = [
  ["database is locked", 5],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
  ["UNIQUE constraint failed", 2067],
] as const;
