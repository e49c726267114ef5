import { createHash } from "node:crypto";
import { TillkitError } from "../../../errors/index.js";
import { concealValues } from "../dialect.js";
import { type Driver, endsOf, type OpenTransaction } from "../driver.js";
import { applyMissingSteps, isNewest, readVersion, type SchemaVersion } from "../migrate.js";
import { optionInvalid, reservedConnections, type ResolvedSqlStoreOptions } from "../options.js";
import { type Session, type SqlResult } from "../sql-tx.js";
import { type Tables } from "../tables/names.js";
import { mysqlSchema } from "./migrations.js";
import { mysqlDialect } from "./mysql-dialect.js";
import { MysqlPipeline, pipelinedTransaction, type TransactionEnds } from "./pipeline/mysql-pipeline.js";
import {
  type AnyMysqlPool,
  connectionOf,
  connectTimeoutMs,
  cutOff,
  type MysqlConnection,
  type MysqlPool,
  openMysqlPool,
  physical,
  mysqlResult,
  sessionOn,
  sizeOf,
} from "./pool.js";

/** A pool of the kit's own, or of the application. Each transaction has a connection to itself. */
export class MysqlDriver implements Driver<MysqlConnection> {
  readonly dialect = mysqlDialect;
  readonly handlerTransactions?: number;
  readonly poolSize: number | undefined;
  shortage = "";
  readonly reader: Session = {
    run: (sql, params) => this.#onConnection((connection) => sessionOn(connection).run(sql, params)),
  };
  readonly writer: Session = this.reader;
  readonly #source: string | AnyMysqlPool;
  readonly #tables: Tables;
  readonly #busyTimeoutMs: number;
  readonly #maxConnections: number;
  /** Present where the connections are the kit's own; the pool of an application is used as it is. */
  readonly #pipeline?: MysqlPipeline;
  readonly #own: boolean;
  readonly #prepared = new WeakSet<object>();
  /** The functions that end the open transactions. */
  readonly #transactions = new Set<() => void>();
  #pool: MysqlPool | undefined;

  constructor(source: string | AnyMysqlPool, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#source = source;
    this.#own = typeof source === "string";
    this.#tables = tables;
    this.#busyTimeoutMs = options.busyTimeoutMs;
    this.#maxConnections = options.maxConnections;
    if (typeof source !== "string") {
      this.poolSize = sizeOf(source);
      return;
    }
    this.handlerTransactions = options.maxConnections - reservedConnections;
    this.#pipeline = new MysqlPipeline(source, (pool) => this.#connect(pool));
    this.#maxConnections -= 1;
  }

  async migrate(): Promise<void> {
    this.#pool ??= await this.#open();
    await this.#onConnection(async (connection) => {
      await refuseUnsafeEscapes(connection);
      await migrate(connection, this.#tables);
    });
  }

  async readVersion(): Promise<SchemaVersion> {
    this.#pool ??= await this.#open();
    try {
      const connection = await connectionOf(this.#pool);
      const reading = readVersion(sessionOn(connection), mysqlSchema(this.#tables, ""));
      return await reading.finally(() => connection.release());
    } catch (error) {
      throw mysqlDialect.translate(error);
    }
  }

  async begin(): Promise<OpenTransaction<MysqlConnection>> {
    const connection = await this.#connect();
    const { abandon, rollback, commit } = this.#endsOf(connection);
    try {
      // Holds for the next transaction only: the session of an application's pool stays as it was.
      if (!this.#own) await connection.query("set transaction isolation level read committed");
      await connection.query("start transaction");
    } catch (error) {
      abandon();
      throw mysqlDialect.translate(error);
    }
    return {
      raw: connection,
      query: (sql, params) => query(connection, sql, params),
      run: (sql, params) => sessionOn(connection).run(sql, params),
      rollback,
      abandon,
      commit: async () => void (await commit()),
    };
  }

  async beginPipelined(): Promise<OpenTransaction<MysqlConnection> | undefined> {
    const connection = await this.#pipeline?.take();
    if (!connection) return undefined;
    const ends = this.#endsOf(connection, () => this.#pipeline!.free());
    return pipelinedTransaction(connection, ends);
  }

  #endsOf(connection: MysqlConnection, onEnd?: () => void): TransactionEnds {
    const pooled = {
      query: (sql: string) => connection.query(sql),
      giveBack: () => this.#giveBack(connection),
      cutOff: () => cutOff(connection),
      onEnd,
    };
    return endsOf(pooled, this.#transactions);
  }

  async warnings(): Promise<string[]> {
    const { rows } = await this.reader.run<{ name: string; value: string }>(
      `show global variables where variable_name in ('innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin')`,
      [],
    );
    const settings = new Map(rows.map((row) => Object.values(row) as [string, string]));
    const weak = [
      ["innodb_flush_log_at_trx_commit", true],
      ["sync_binlog", settings.get("log_bin") === "ON"],
    ] as const;
    return weak
      .filter(([name, matters]) => matters && settings.get(name) !== "1")
      .map(([name]) => `MySQL has ${name} = ${settings.get(name)}: a commit may be lost in a crash.`);
  }

  async close(): Promise<void> {
    for (const abandon of this.#transactions) abandon();
    await this.#pipeline?.close();
    if (this.#own) await this.#pool?.end();
  }

  async #open(): Promise<MysqlPool> {
    if (typeof this.#source === "string") return openMysqlPool(this.#source, this.#maxConnections);
    return "promise" in this.#source ? this.#source.promise() : this.#source;
  }

  async #connect(pool = this.#pool!): Promise<MysqlConnection> {
    try {
      const connection = await connectionOf(pool, this.shortage);
      if (this.#own) await this.#prepare(connection);
      return connection;
    } catch (error) {
      throw mysqlDialect.translate(error);
    }
  }

  /** Sets the session of a connection of the kit's own, once for each session. */
  async #prepare(connection: MysqlConnection): Promise<void> {
    const session = physical(connection);
    session.stream?.ref?.();
    if (this.#prepared.has(session)) return;
    const tooLong = setTimeout(() => cutOff(connection), connectTimeoutMs);
    try {
      const seconds = Math.max(1, Math.ceil(this.#busyTimeoutMs / 1000));
      await connection.query("set session transaction isolation level read committed");
      await connection.query(`set session innodb_lock_wait_timeout = ${seconds}`);
      await refuseUnsafeEscapes(connection);
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      clearTimeout(tooLong);
    }
    this.#prepared.add(session);
  }

  #giveBack(connection: MysqlConnection): void {
    // An idle connection of the kit's own does not keep the process alive.
    if (this.#own) physical(connection).stream?.unref?.();
    connection.release();
  }

  async #onConnection<T>(work: (connection: MysqlConnection) => Promise<T>): Promise<T> {
    const connection = await this.#connect();
    try {
      return await work(connection);
    } catch (error) {
      throw mysqlDialect.translate(error);
    } finally {
      this.#giveBack(connection);
    }
  }
}

/** Brings the tables to the newest version, under a lock of the kit's own. */
async function migrate(connection: MysqlConnection, tables: Tables): Promise<void> {
  const session = sessionOn(connection);
  const read = async (sql: string, params: unknown[] = []): Promise<Record<string, unknown>> =>
    (await session.run(sql, params)).rows[0] ?? {};
  const { database, version } = await read("select database() as `database`, version() as version");
  // Both compare exactly, also spaces at the end; the two servers have different names for it.
  const collation = String(version).includes("MariaDB") ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin";
  const schema = mysqlSchema(tables, collation);
  if (await isNewest(session, schema)) return;
  // The name of a lock is valid for the whole server, and must be short.
  const name = createHash("sha256")
    .update(`tillkit ${String(database)} ${tables.meta}`)
    .digest("hex");
  const lock = name.slice(0, 60);
  const { locked } = await read("select get_lock(?, 60) as locked", [lock]);
  if (Number(locked) !== 1)
    throw new TillkitError("store_busy", "Another process has been making the tables for a minute.");
  try {
    // A step that was cut short runs again from its start, so its columns and keys may exist.
    const run = async (sql: string, params: readonly unknown[]): Promise<SqlResult> => {
      try {
        return await session.run(sql, params);
      } catch (error) {
        const [duplicateColumn, duplicateKey] = [1060, 1061];
        const { errno } = error as { errno?: number };
        if (errno !== duplicateColumn && errno !== duplicateKey) throw error;
        return { rows: [], affected: 0 };
      }
    };
    await applyMissingSteps({ run: run as Session["run"] }, schema);
  } finally {
    await connection.query("select release_lock(?)", [lock]);
  }
}

/** Runs a statement of the application. The error stays as it is, but mysql2 adds the text with its values, which is hidden. */
async function query(
  connection: MysqlConnection,
  sql: string,
  params: readonly unknown[],
): Promise<SqlResult> {
  try {
    return mysqlResult(await connection.query(sql, params.map(plain)));
  } catch (error) {
    if (params.length > 0) concealValues(error, ["sql"]);
    throw error;
  }
}

/** Refuses a mode in which backslashes are plain characters: mysql2 writes values into the statement with backslashes. */
async function refuseUnsafeEscapes(connection: MysqlConnection): Promise<void> {
  const { rows } = mysqlResult(await connection.query("select @@session.sql_mode as mode"));
  if (String(rows[0]!["mode"]).includes("NO_BACKSLASH_ESCAPES"))
    throw optionInvalid("urlOrPool", "the server's sql_mode must not contain NO_BACKSLASH_ESCAPES.");
}

/** Refuses an object as a value: mysql2 would write it as assignments, and a parsed request would become SQL. */
function plain(value: unknown): unknown {
  const isPlain =
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value) ||
    value instanceof Date ||
    ArrayBuffer.isView(value);
  if (!isPlain)
    throw new TypeError("A statement's value must be a string, number, boolean, Date, bytes or null.");
  return value === undefined ? null : value;
}
