import { existsSync, rmSync } from "node:fs";
import { TillkitError } from "../../../errors/index.js";
import {
  type Driver,
  type OpenTransaction,
  type Purpose,
  type SchemaVersion,
  type SyncTx,
} from "../driver/driver.js";
import { type Dialect } from "../driver/dialect.js";
import { applyMissingSteps, isNewest, readVersion } from "../schema/migrate.js";
import { type ResolvedSqlStoreOptions } from "../options.js";
import { type Session, type SqlResult } from "../driver/sql-tx.js";
import { type Tables } from "../tables/names.js";
import { runTransaction } from "../transaction/transaction.js";
import { backUp } from "./back-up.js";
import { SqliteConnection } from "./connection.js";
import { loadDriver, openDatabase, retryBusy, type SqliteDatabase } from "./database.js";
import { handleOf } from "./handle.js";
import { LogSyncs } from "./log-syncs.js";
import { sqliteSchema } from "./migrations.js";
import { inodeAt, openConnections, refuseExposedFiles, type SqliteConnections } from "./open-connections.js";
import { sqliteDialect } from "./sqlite-dialect.js";
import { type LockContext, lockStatements, lockSync } from "./synchronous/lock-sync.js";
import { type SaveContext, saveStatements, saveSync } from "./synchronous/save-sync.js";
import { WriterQueue } from "./writer-queue.js";

/** The maximum age, in milliseconds, of the last check of the files before a read or a begin. */
const maxUncheckedMs = 1000;

/**
 * Two connections to one file: a writer and a reader. This process has a queue for the writer. The reader
 * sees only committed rows and waits at most for a commit.
 */
export class SqliteDriver implements Driver<SqliteDatabase> {
  /** The dialect of SQLite with errors that name the file. */
  readonly dialect: Dialect;
  readonly reader: Session = {
    run: (sql, params) => this.#read((reader) => reader.run(sql, params)) as never,
  };
  readonly query: Driver<SqliteDatabase>["query"] = (sql, params) =>
    this.#read((reader) => reader.query(sql, params));
  readonly writer: Session = {
    run: (sql, params) => runTransaction(this, (tx) => tx.run(sql, params)) as never,
  };
  readonly #file: string;
  readonly #tables: Tables;
  readonly #busyTimeoutMs: number;
  readonly #queue: WriterQueue;
  readonly #statements: LockContext["statements"] & SaveContext["statements"];
  #connections: SqliteConnections | undefined;
  #syncs: LogSyncs | undefined;
  #lost: string | undefined;
  #checkedAt = -Infinity;

  constructor(file: string, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#file = file;
    this.dialect = { ...sqliteDialect, translate: (error) => sqliteDialect.translate(error, ` ${file}`) };
    this.#tables = tables;
    this.#busyTimeoutMs = options.busyTimeoutMs;
    this.#queue = new WriterQueue(options.busyTimeoutMs);
    this.#statements = { ...lockStatements(tables), ...saveStatements(tables) };
  }

  async migrate(): Promise<void> {
    this.#connections ??= await this.#openConnections();
    // The value must change each time: SQLite does not write a page if the value stays the same.
    const touch = `update ${this.#tables.meta} set value = case value when '' then '.' else '' end where name = 'handlers'`;
    this.#syncs ??= new LogSyncs(this.#connections.writer, touch);
    const schema = { ...sqliteSchema(this.#tables), place: this.#file };
    if (await isNewest(this.reader, schema)) return;
    await runTransaction(this, (tx) => applyMissingSteps(tx, schema));
  }

  async #openConnections(): Promise<SqliteConnections> {
    try {
      return await openConnections(this.#file, this.#busyTimeoutMs);
    } catch (error) {
      throw this.dialect.translate(error);
    }
  }

  async readVersion(): Promise<SchemaVersion> {
    const schema = sqliteSchema(this.#tables);
    // A missing file has no tables, and cannot be opened for reading.
    if (!existsSync(this.#file)) return { version: 0, newest: schema.steps.length };
    refuseExposedFiles(this.#file);
    const { DatabaseSync } = await loadDriver();
    const database = openDatabase(DatabaseSync, this.#file, { readOnly: true });
    const connection = new SqliteConnection(database);
    try {
      const run = async (sql: string, params: readonly unknown[]) => connection.run(sql, params);
      return await readVersion({ run: run as Session["run"] }, schema);
    } catch (error) {
      throw this.dialect.translate(error);
    } finally {
      connection.close();
    }
  }

  async #read(run: (reader: SqliteConnection) => SqlResult): Promise<SqlResult> {
    return this.#retry(() => {
      this.#checkFiles(maxUncheckedMs);
      return run(this.#connections!.reader);
    });
  }

  async begin(purpose?: Purpose): Promise<OpenTransaction<SqliteDatabase>> {
    const free = await this.#queue.enter();
    const { writer, hasLog } = this.#connections!;
    const syncs = this.#syncs!;
    // A handler leaves its sync to the next transactions. A claim needs no sync.
    const isShared = purpose === "handler" && this.#queue.isAwaited && syncs.mayBeShared;
    const isSynced = !(hasLog && (isShared || purpose === "claim"));
    const leave = (): void => this.#leave(free);
    try {
      await this.#begin(isSynced);
    } catch (error) {
      leave();
      throw error;
    }
    let ended = false;
    const rollback = (): void => {
      // A second call would roll back the transaction that has the writer at that time.
      if (ended) return;
      ended = true;
      this.#rollback();
      leave();
    };
    let handle: SqliteDatabase | undefined;
    return {
      get raw() {
        return (handle ??= handleOf(writer.database, () => ended));
      },
      sync: this.#syncTx(),
      query: async (sql, params) => writer.query(sql, params),
      run: async (sql, params) => writer.run(sql, params),
      rollback: async () => rollback(),
      // Statements are synchronous, so none runs now.
      abandon: rollback,
      commit: async () => {
        try {
          await this.#commit(isSynced);
        } catch (error) {
          rollback();
          throw error;
        }
        ended = true;
        const synced = isShared && !isSynced ? syncs.next() : undefined;
        leave();
        await synced;
      },
    };
  }

  warnings(): Promise<string[]> {
    return Promise.resolve(this.#connections!.warnings);
  }

  backup(to: string): Promise<{ bytes: number }> {
    return backUp(this.#file, to);
  }

  async close(): Promise<void> {
    if (!this.#connections) return;
    const { reader, writer } = this.#connections;
    reader.close();
    // If a transaction was cut off, the log can be emptied only after this rollback.
    this.#rollback();
    try {
      this.#checkFiles(0);
      this.#emptyLog();
    } catch {
      // The file was removed or replaced. `#checkFiles` has already tried to empty the log.
    }
    writer.close();
    this.#connections = undefined;
  }

  /**
   * Copies the log into the file and empties it, unless another connection needs the log. SQLite usually
   * empties the log at the close. With `@photostructure/sqlite`, prepared statements keep a closed connection
   * half open, so SQLite does not empty the log.
   */
  #emptyLog(): boolean {
    try {
      const { rows } = this.#connections!.writer.run("pragma wal_checkpoint(truncate)", []);
      return rows[0]!["busy"] === 0;
    } catch {
      return false;
    }
  }

  /**
   * Throws `store_unavailable` if the file or its log is not the opened one. Looks again if the last look was
   * `maxAgeMs` ago.
   */
  #checkFiles(maxAgeMs: number): void {
    const now = performance.now();
    if (this.#lost === undefined && now - this.#checkedAt >= maxAgeMs) {
      this.#checkedAt = now;
      const { files } = this.#connections!;
      const isThere = ([path, inode]: (typeof files)[number]): boolean => inodeAt(path) === inode;
      this.#lost = files.slice(0, 2).find((file) => !isThere(file))?.[0];
      // The log of the lost file must not be applied to the file that replaced it.
      if (this.#lost !== undefined && this.#emptyLog() && this.#lost === this.#file)
        for (const [path] of files.slice(1).filter(isThere)) rmSync(path);
    }
    if (this.#lost === undefined) return;
    const problem = `${this.#lost} was removed or replaced while the file was open.`;
    throw new TillkitError("store_unavailable", `${problem} Restart every process that uses this file.`);
  }

  /** Returns the synchronous steps of one transaction. */
  #syncTx(): SyncTx {
    const context = { connection: this.#connections!.writer, statements: this.#statements, read: new Map() };
    return { lock: (keys) => lockSync(context, keys), save: (changes) => saveSync(context, changes) };
  }

  #begin(isSynced: boolean): Promise<void> {
    return this.#retry(() => {
      this.#checkFiles(maxUncheckedMs);
      const { writer, hasLog } = this.#connections!;
      if (hasLog) this.#syncs!.use(isSynced);
      writer.run("begin immediate", []);
    });
  }

  #commit(isSynced: boolean): Promise<void> {
    const syncs = this.#syncs!;
    return this.#retry(() => {
      if (isSynced && syncs.areAwaited) syncs.prepare();
      // With a rollback journal, a reading process blocks a commit. The transaction stays open meanwhile.
      this.#connections!.writer.run("commit", []);
      // This check follows the commit, because the commit is not durable if the file has lost its name by
      // then.
      this.#checkFiles(0);
      if (isSynced) syncs.done();
    });
  }

  #rollback(): void {
    try {
      this.#connections!.writer.exec("rollback");
    } catch {
      // No transaction is open, or SQLite has rolled back by itself, for example because the disk is full.
    }
  }

  /** Releases the writer. If commits wait for a sync and no transaction follows, syncs first. */
  #leave(free: () => void): void {
    if (!this.#syncs!.areAwaited || this.#queue.isAwaited) free();
    else void this.#syncNow().finally(free);
  }

  async #syncNow(): Promise<void> {
    try {
      await this.#begin(true);
      await this.#commit(true);
    } catch (error) {
      this.#syncs!.failed(error);
      this.#rollback();
    }
  }

  async #retry<T>(run: () => T): Promise<T> {
    try {
      return await retryBusy(this.#file, this.#busyTimeoutMs, run);
    } catch (error) {
      throw this.dialect.translate(error);
    }
  }
}
