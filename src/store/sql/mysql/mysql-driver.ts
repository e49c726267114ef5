import { concealValues } from "../conceal-values.js";
import { storable } from "../dialect.js";
import { type Driver, type OpenTransaction } from "../driver.js";
import { optionInvalid, reservedConnections, type ResolvedSqlStoreOptions } from "../options.js";
import { type Session, type SqlResult } from "../sql-tx.js";
import { type Tables } from "../tables/names.js";
import { migrateMysql } from "./migrate.js";
import { mysqlDialect } from "./mysql-dialect.js";
import {
  type AnyMysqlPool,
  connectionOf,
  connectTimeoutMs,
  cutOff,
  type MysqlConnection,
  type MysqlPool,
  openMysqlPool,
  physical,
} from "./pool.js";
import { RecordingLane } from "./pipeline/recording-lane.js";
import { resultOf } from "./result.js";
import { Together } from "./pipeline/send-together.js";

/** How long a rollback may take: a connection that died silently would take for ever. */
const rollbackPatienceMs = 2000;

/** A pool of the kit's own, or the application's. Each transaction has a connection to itself. */
export class MysqlDriver implements Driver<MysqlConnection> {
  readonly dialect = mysqlDialect;
  readonly handlerTransactions?: number;
  readonly reader: Session = { run: (sql, params) => this.#run(sql, params) as never };
  readonly writer: Session = this.reader;
  readonly #source: string | AnyMysqlPool;
  readonly #tables: Tables;
  readonly #busyTimeoutMs: number;
  readonly #maxConnections: number;
  /** Of the kit's own connections the one for recording; an application's pool is used as it is. */
  readonly #lane?: RecordingLane;
  readonly #own: boolean;
  readonly #prepared = new WeakSet<object>();
  /** Ends each open transaction. */
  readonly #transactions = new Set<() => void>();
  #pool: MysqlPool | undefined;

  constructor(source: string | AnyMysqlPool, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#source = source;
    this.#own = typeof source === "string";
    this.#tables = tables;
    this.#busyTimeoutMs = options.busyTimeoutMs;
    this.#maxConnections = options.maxConnections;
    if (typeof source !== "string") return;
    this.handlerTransactions = options.maxConnections - reservedConnections;
    this.#lane = new RecordingLane(source, (pool) => this.#connect(pool));
    this.#maxConnections -= 1;
  }

  async migrate(): Promise<void> {
    this.#pool ??= await this.#open();
    const connection = await this.#connect();
    try {
      await refuseUnsafeEscapes(connection);
      await migrateMysql(connection, this.#tables);
    } catch (error) {
      throw mysqlDialect.translate(error);
    } finally {
      this.#giveBack(connection);
    }
  }

  async begin(): Promise<OpenTransaction<MysqlConnection>> {
    const connection = await this.#connect();
    const { giveBack, abandon, rollback } = this.#endsOf(connection);
    try {
      // For the next transaction only: the session of a pool that is not the kit's stays as it was.
      if (!this.#own) await connection.query("set transaction isolation level read committed");
      await connection.query("start transaction");
    } catch (error) {
      abandon();
      throw mysqlDialect.translate(error);
    }
    return {
      raw: connection,
      query: (sql, params) => ask(connection, sql, params),
      run: async (sql, params) => resultOf(await connection.query(sql, params.map(storable))),
      rollback,
      abandon,
      commit: async () => {
        try {
          await connection.query("commit");
        } catch (error) {
          abandon();
          throw error;
        }
        giveBack();
      },
    };
  }

  async beginAhead(): Promise<OpenTransaction<MysqlConnection> | undefined> {
    const lane = this.#lane;
    const connection = await lane?.take();
    if (!lane || !connection) return undefined;
    const together = new Together(connection);
    const { giveBack, abandon, rollback } = this.#endsOf(connection, () => lane.free());
    together.add("start transaction").catch(() => undefined); // Told by the statements behind it.
    const rollbackInOrder = async (): Promise<void> => {
      void together.send();
      await rollback();
    };
    return {
      raw: connection,
      isOrdered: true,
      startAgain: () => Promise.all([together.add("rollback"), together.add("start transaction")]),
      query: () => Promise.reject(new TypeError("Only statements of the kit go over this connection.")),
      run: (sql, params) => together.add(sql, params.map(storable)),
      rollback: rollbackInOrder,
      abandon,
      commit: async () => {
        try {
          await together.add("commit");
        } catch (error) {
          // Where the server says so, it was not run behind what failed, or failed itself; and otherwise nobody knows.
          await rollbackInOrder();
          throw error;
        }
        giveBack();
      },
    };
  }

  /** The ways in which a transaction lets its connection go: the first of them counts. */
  #endsOf(
    connection: MysqlConnection,
    ended: () => void = () => {},
  ): Pick<OpenTransaction<MysqlConnection>, "rollback" | "abandon"> & { giveBack: () => void } {
    let isOver = false;
    const end = (letGo: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#transactions.delete(abandon);
      letGo();
      ended();
    };
    const giveBack = (): void => end(() => this.#giveBack(connection));
    const abandon = (): void => end(() => cutOff(connection));
    this.#transactions.add(abandon);
    const rollback = async (): Promise<void> => {
      const tooLong = setTimeout(abandon, rollbackPatienceMs);
      try {
        await connection.query("rollback");
        giveBack();
      } catch {
        abandon();
      }
      clearTimeout(tooLong);
    };
    return { giveBack, abandon, rollback };
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
    await this.#lane?.close();
    if (this.#own) await this.#pool?.end();
  }

  async #open(): Promise<MysqlPool> {
    if (typeof this.#source === "string") return openMysqlPool(this.#source, this.#maxConnections);
    return "promise" in this.#source ? this.#source.promise() : this.#source;
  }

  async #connect(pool = this.#pool!): Promise<MysqlConnection> {
    try {
      const connection = await connectionOf(pool);
      if (this.#own) await this.#prepare(connection);
      return connection;
    } catch (error) {
      throw mysqlDialect.translate(error);
    }
  }

  /** Sets what the kit wants of a session of its own, once per session. */
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

  async #run(sql: string, params: readonly unknown[]): Promise<SqlResult> {
    const connection = await this.#connect();
    try {
      return resultOf(await connection.query(sql, params.map(storable)));
    } catch (error) {
      throw mysqlDialect.translate(error);
    } finally {
      this.#giveBack(connection);
    }
  }
}

/** A statement of the application: its error stays its own, but mysql2 puts the text with its values into it. */
async function ask(connection: MysqlConnection, sql: string, params: readonly unknown[]): Promise<SqlResult> {
  try {
    return resultOf(await connection.query(sql, params.map(plain)));
  } catch (error) {
    if (params.length > 0) concealValues(error, ["sql"]);
    throw error;
  }
}

/** mysql2 writes values into the statement with backslashes, which this mode takes for plain characters. */
async function refuseUnsafeEscapes(connection: MysqlConnection): Promise<void> {
  const { rows } = resultOf(await connection.query("select @@session.sql_mode as mode"));
  if (String(rows[0]!["mode"]).includes("NO_BACKSLASH_ESCAPES"))
    throw optionInvalid("urlOrPool", "the server's sql_mode must not contain NO_BACKSLASH_ESCAPES.");
}

/** mysql2 would write an object into the statement as assignments, which is how a parsed request becomes SQL. */
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
