import { randomUUID } from "node:crypto";
import { hasCode, TillkitError } from "../../../errors/index.js";
import { because, hostOf } from "../../../shared/because.js";
import { concealValues, type Dialect } from "../driver/dialect.js";
import { type Driver, type OpenTransaction, type Purpose, type SchemaVersion } from "../driver/driver.js";
import { type Session, type SqlResult } from "../driver/sql-tx.js";
import { reservedConnections, type ResolvedSqlStoreOptions } from "../options.js";
import { AnswerLimits } from "../pooled/answer-limits.js";
import { endsOf, isGone, replicationWarning, takeOpen } from "../pooled/connections.js";
import { askMysql, migrateKnown, refuseUnsafeServer, serverWarnings } from "../schema/identify-server.js";
import { isNewest, readVersion } from "../schema/migrate.js";
import { type Tables } from "../tables/names.js";
import { migrateMysql } from "./migrate-mysql.js";
import { mysqlSchema } from "./migrations.js";
import { isMysqlFull, isMysqlSessionOver, mysqlDialect } from "./mysql-dialect.js";
import { MysqlPipeline, pipelinedTransaction, type TransactionEnds } from "./pipeline/mysql-pipeline.js";
import { prepareSession, refuseUnsafeSession } from "./session-settings.js";
import {
  type AnyMysqlPool,
  connectionOf,
  connectTimeoutMs,
  cutOffConnection,
  hasSeveralWriters,
  hasWaitingCallers,
  type MysqlConnection,
  type MysqlPool,
  openMysqlPool,
  mysqlWaitsForLock,
  physical,
  mysqlResult,
  sessionOn,
  sizeOf,
} from "./pool.js";

/** Uses a pool of the kit's own, or of the application. Each transaction has a connection to itself. */
export class MysqlDriver implements Driver<MysqlConnection> {
  readonly dialect: Dialect = { ...mysqlDialect };
  readonly handlerTransactions?: number;
  readonly poolSize: number | undefined;
  shortage = "";
  readonly reader: Session = {
    run: (sql, params) => this.#onConnection((session) => session.run(sql, params)),
  };
  readonly slowReader: Session = {
    run: (sql, params) => this.#onConnection((session) => session.run(sql, params), "upkeep"),
  };
  readonly writer: Session = this.reader;
  readonly #source: string | AnyMysqlPool;
  readonly #tables: Tables;
  readonly #lockWaitSeconds: number;
  readonly #maxConnections: number;
  /** Present if the kit opens the connections. An application's pool is used without a pipeline. */
  readonly #pipeline?: MysqlPipeline;
  readonly #own: boolean;
  readonly #prepared = new WeakSet<object>();
  /** The name of this driver's claim of the migration. */
  readonly #holder = randomUUID();
  readonly #answers: AnswerLimits;
  /** The functions that end the open transactions. */
  readonly #transactions = new Set<() => void>();
  #pool: MysqlPool | undefined;

  constructor(source: string | AnyMysqlPool, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#source = source;
    this.#own = typeof source === "string";
    this.#tables = tables;
    this.#lockWaitSeconds = Math.max(1, Math.ceil(options.busyTimeoutMs / 1000));
    // InnoDB ends waits for locks once a second, so a wait can last one second longer.
    this.#answers = new AnswerLimits((this.#lockWaitSeconds + 1) * 1000, isMysqlSessionOver);
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
    const server = refuseUnsafeServer(await askMysql(this.reader));
    await migrateKnown(server, this.dialect, async () => {
      this.dialect.hasSeveralWriters = await hasSeveralWriters(this.reader);
      if (await isNewest(this.reader, mysqlSchema(this.#tables, ""))) return;
      // Only an upgrade may take long. Every other start must notice a connection that hangs.
      const migrate = (session: Session) => migrateMysql(session, this.#tables, this.#holder);
      await this.#onConnection(migrate, "migration");
    });
  }

  async readVersion(): Promise<SchemaVersion> {
    this.#pool ??= await this.#open();
    return this.#onConnection(async (session) => {
      refuseUnsafeServer(await askMysql(session));
      return readVersion(session, mysqlSchema(this.#tables, ""));
    });
  }

  async query(sql: string, params: readonly unknown[]): Promise<SqlResult> {
    const connection = await this.#connect();
    const { ask, giveBack } = this.#watch(connection);
    try {
      return await ask(() => query(connection, sql, params), "application");
    } catch (error) {
      throw mysqlDialect.translate(error);
    } finally {
      giveBack();
    }
  }

  async begin(purpose?: Purpose): Promise<OpenTransaction<MysqlConnection>> {
    const connection = await this.#connect().catch((error: unknown) => {
      // An unsafe session must not count as a failure of the handler that gets it.
      if (purpose !== "handler" || !hasCode(error, "option_invalid")) throw error;
      throw new TillkitError("store_unavailable", `No transaction was opened${because(error)}`, {
        cause: error,
      });
    });
    const { ask, abandon, rollback, commit } = this.#watch(connection);
    const send = (sql: string) => ask(() => connection.query(sql));
    try {
      // The statement affects only the next transaction, so the session of an application's pool stays
      // unchanged.
      if (!this.#own) await send("set transaction isolation level read committed");
      await send("start transaction");
    } catch (error) {
      abandon();
      throw mysqlDialect.translate(error);
    }
    return {
      raw: connection,
      ask,
      query: (sql, params) => ask(() => query(connection, sql, params), "application"),
      run: (sql, params) => sessionOn(connection, ask, purpose).run(sql, params),
      rollback,
      abandon,
      isLost: () => isGone(physical(connection).stream),
      commit: async () => void (await commit()),
    };
  }

  async beginPipelined(): Promise<OpenTransaction<MysqlConnection> | undefined> {
    const connection = await this.#pipeline?.take();
    if (!connection) return undefined;
    const watched = this.#watch(connection, () => this.#pipeline!.free());
    return pipelinedTransaction(connection, watched);
  }

  /** Returns a function that sends statements on a connection, and functions that give it back. */
  #watch(connection: MysqlConnection, onEnd?: () => void): TransactionEnds {
    const query = (sql: string) => connection.query(sql);
    const session = physical(connection);
    const waitsForLock = () => mysqlWaitsForLock(this.reader, connection);
    const isPoolFull = () => hasWaitingCallers(this.#pool!);
    const cutOff = (error: Error): void => ends.abandon(error);
    const ask = this.#answers.on({ session, query, cutOff, waitsForLock, isPoolFull });
    const pooled = {
      query: (sql: string) => ask(() => query(sql)),
      giveBack: () => this.#giveBack(connection),
      cutOff: () => cutOffConnection(connection),
      onEnd,
    };
    const ends = endsOf(pooled, this.#transactions);
    return { ask, ...ends };
  }

  async warnings(): Promise<string[]> {
    const unexamined = serverWarnings(await askMysql(this.reader));
    // This product's variables may have other names.
    if (unexamined.length > 0) return unexamined;
    const { rows } = await this.reader.run<{ name: string; value: string }>(
      `show global variables where variable_name in ('innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin')`,
      [],
    );
    const settings = new Map(rows.map((row) => Object.values(row) as [string, string]));
    const weak = [
      ["innodb_flush_log_at_trx_commit", true],
      ["sync_binlog", settings.get("log_bin") === "ON"],
    ] as const;
    const warnings = weak
      .filter(([name, matters]) => matters && settings.get(name) !== "1")
      .map(([name]) => `MySQL has ${name} = ${settings.get(name)}: a commit may be lost in a crash.`);
    // The setting stays on if semi-synchronous replication continues without replicas, so read the status.
    const waiting = await this.reader.run(
      `show global status where variable_name in ('Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status')
        and value = 'ON'`,
      [],
    );
    const replicas = await this.reader.run(
      "select id from information_schema.processlist where command like 'Binlog Dump%'",
      [],
    );
    if (waiting.rows.length === 0 && replicas.rows.length > 0)
      warnings.push(replicationWarning("MySQL", replicas.rows.length));
    return warnings;
  }

  async close(): Promise<void> {
    for (const abandon of this.#transactions) abandon();
    await this.#pipeline?.close();
    if (this.#own) await this.#pool?.end();
  }

  async #open(): Promise<MysqlPool> {
    if (typeof this.#source === "string") return openMysqlPool(this.#source, this.#maxConnections);
    this.#answers.watchPool(this.#source, "connection", physical);
    return "promise" in this.#source ? this.#source.promise() : this.#source;
  }

  /** Takes a connection. Closes connections that are suspected to be dead. */
  async #connect(pool = this.#pool!): Promise<MysqlConnection> {
    try {
      for (;;) {
        const connection = await takeOpen(() => connectionOf(pool, this.shortage), isMysqlFull);
        await this.#prepare(connection);
        if (!this.#answers.isSuspect(physical(connection))) return connection;
        cutOffConnection(connection);
      }
    } catch (error) {
      const place = typeof this.#source === "string" ? hostOf(this.#source, 3306) : undefined;
      throw mysqlDialect.translate(error, place);
    }
  }

  /** Prepares a session of the kit's own, or checks a session of an application, once for each session. */
  async #prepare(connection: MysqlConnection): Promise<void> {
    const session = physical(connection);
    if (this.#own) session.stream?.ref?.();
    if (this.#prepared.has(session)) return;
    const tooLong = setTimeout(() => cutOffConnection(connection), connectTimeoutMs);
    try {
      if (this.#own) await prepareSession(sessionOn(connection), this.#lockWaitSeconds);
      else await refuseUnsafeSession(sessionOn(connection));
    } catch (error) {
      if (this.#own) connection.destroy();
      else connection.release();
      throw error;
    } finally {
      clearTimeout(tooLong);
    }
    this.#prepared.add(session);
  }

  #giveBack(connection: MysqlConnection): void {
    // An idle connection that the kit opened does not keep the process alive.
    if (this.#own) physical(connection).stream?.unref?.();
    connection.release();
  }

  async #onConnection<T>(work: (session: Session) => Promise<T>, purpose?: Purpose): Promise<T> {
    const connection = await this.#connect();
    const { ask, giveBack } = this.#watch(connection);
    try {
      return await work(sessionOn(connection, ask, purpose));
    } catch (error) {
      throw mysqlDialect.translate(error);
    } finally {
      giveBack();
    }
  }
}

/** Runs a statement of the application. Hides the values, which mysql2 adds to an error. */
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

/** Refuses an object as a value. mysql2 would write it as assignments, so parsed input would become SQL. */
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
