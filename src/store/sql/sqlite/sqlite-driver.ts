import { type Driver, type OpenTransaction, type Purpose } from "../driver.js";
import { type ResolvedSqlStoreOptions } from "../options.js";
import { type Session, type SqlResult, type TxAtOnce } from "../sql-tx.js";
import { type Tables } from "../tables/names.js";
import { type SqliteConnection } from "./connection.js";
import { isBusy, type SqliteDatabase } from "./database.js";
import { LogSyncs } from "./log-syncs.js";
import { migrateSqlite } from "./migrate.js";
import { openConnections, type SqliteConnections } from "./open-connections.js";
import { retryBusy } from "./retry-busy.js";
import { sqliteDialect } from "./sqlite-dialect.js";
import { WriterQueue } from "./writer-queue.js";

/**
 * Two connections to one file: a writer, for which this process queues, and a reader, which sees committed rows only and
 * waits for nobody.
 */
export class SqliteDriver implements Driver<SqliteDatabase> {
  readonly dialect = sqliteDialect;
  readonly reader: Session = { run: (sql, params) => this.#read(sql, params) as never };
  readonly writer: Session = { run: (sql, params) => this.#write(sql, params) as never };
  readonly #file: string;
  readonly #tables: Tables;
  readonly #busyTimeoutMs: number;
  readonly #queue: WriterQueue;
  #connections: SqliteConnections | undefined;
  #syncs: LogSyncs | undefined;

  constructor(file: string, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#file = file;
    this.#tables = tables;
    this.#busyTimeoutMs = options.busyTimeoutMs;
    this.#queue = new WriterQueue(options.busyTimeoutMs);
  }

  async migrate(): Promise<void> {
    this.#connections ??= await openConnections(this.#file, this.#busyTimeoutMs);
    // Another value each time: SQLite leaves a page alone where a row gets what it has.
    const touch = `update ${this.#tables.meta} set value = case value when '' then '.' else '' end where name = 'handlers'`;
    this.#syncs ??= new LogSyncs(this.#connections.writer, touch);
    await migrateSqlite(this.#connections.writer, this.#tables, this.#busyTimeoutMs);
  }

  async atOnce<T>(run: (tx: TxAtOnce) => T): Promise<T> {
    const free = this.#queue.isFree ? this.#queue.take() : await this.#queue.enter();
    const { writer } = this.#connections!;
    try {
      const beginning = this.#begin(true);
      if (beginning) await beginning;
      try {
        const result = run(atOnceOn(writer));
        const committing = this.#commit(true);
        if (committing) await committing;
        return result;
      } catch (error) {
        this.#rollback();
        throw sqliteDialect.translate(error);
      }
    } finally {
      this.#leave(free);
    }
  }

  async begin(purpose?: Purpose): Promise<OpenTransaction<SqliteDatabase>> {
    const free = await this.#queue.enter();
    const { writer } = this.#connections!;
    const syncs = this.#syncs!;
    // A handler leaves its sync to those behind it, if there are any; for a claim nobody waits.
    const isShared = purpose === "handler" && this.#queue.isAwaited && syncs.mayBeShared;
    const isLeft = isShared || purpose === "claim";
    const isSynced = !(isLeft && this.#connections!.hasLog);
    const leave = (): void => this.#leave(free);
    try {
      await this.#begin(isSynced);
    } catch (error) {
      leave();
      throw error;
    }
    let ended = false;
    const rollback = (): void => {
      // A second call would roll back whoever has the writer by then.
      if (ended) return;
      ended = true;
      this.#rollback();
      leave();
    };
    const atOnce = atOnceOn(writer);
    return {
      raw: writer.database,
      atOnce,
      query: async (sql, params) => writer.query(sql, params),
      run: async (sql, params) => atOnce.run(sql, params),
      // In one go: a promise for each of a hundred rows cost as much as the rows.
      runEach: async (sql, params) => atOnce.runEach(sql, params),
      rollback: async () => rollback(),
      // Its statements are synchronous: none is under way when anything else runs.
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

  async close(): Promise<void> {
    this.#connections?.reader.close();
    this.#connections?.writer.close();
    this.#connections = undefined;
  }

  async #read(sql: string, params: readonly unknown[]): Promise<SqlResult> {
    return this.#patiently(() => this.#connections!.reader.run(sql, params));
  }

  async #write(sql: string, params: readonly unknown[]): Promise<SqlResult> {
    const tx = await this.begin();
    try {
      const result = await tx.run(sql, params);
      await tx.commit();
      return result;
    } catch (error) {
      await tx.rollback();
      throw error;
    }
  }

  /** A promise where somebody else has the lock. */
  #begin(isSynced: boolean): Promise<unknown> | undefined {
    const { writer, hasLog } = this.#connections!;
    if (hasLog) this.#syncs!.use(isSynced);
    return this.#atOnceOr(() => writer.run("begin immediate", []));
  }

  #commit(isSynced: boolean): Promise<unknown> | undefined {
    const syncs = this.#syncs!;
    const commit = (): void => {
      if (isSynced && syncs.areAwaited) syncs.prepare();
      // With a rollback journal, somebody who reads keeps a commit waiting; the transaction stays open meanwhile.
      this.#connections!.writer.run("commit", []);
      if (isSynced) syncs.done();
    };
    return this.#atOnceOr(commit);
  }

  #rollback(): void {
    try {
      this.#connections!.writer.exec("rollback");
    } catch {
      // It had not begun, or SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  /** Hands the writer on; where nobody is left to sync for those who wait for it, that comes first. */
  #leave(free: () => void): void {
    if (!this.#syncs!.areAwaited || this.#queue.isAwaited) free();
    else void this.#syncAlone().finally(free);
  }

  async #syncAlone(): Promise<void> {
    try {
      await this.#begin(true);
      await this.#commit(true);
    } catch (error) {
      this.#syncs!.failed(error);
      this.#rollback();
    }
  }

  /** Nothing where it is done at once; else the promise of it. */
  #atOnceOr(run: () => void): Promise<void> | undefined {
    try {
      run();
      return undefined;
    } catch (error) {
      if (isBusy(error)) return this.#patiently(run);
      throw sqliteDialect.translate(error);
    }
  }

  async #patiently<T>(run: () => T): Promise<T> {
    try {
      return await retryBusy(this.#busyTimeoutMs, run);
    } catch (error) {
      throw sqliteDialect.translate(error);
    }
  }
}

function atOnceOn(writer: SqliteConnection): TxAtOnce {
  return {
    run: (sql, params) => writer.run(sql, params) as never,
    runEach: (sql, params) => writer.runEach(sql, params),
    writeEach: (sql, params) => writer.writeEach(sql, params),
    stored: new Map(),
  };
}
