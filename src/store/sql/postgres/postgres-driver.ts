import { TillkitError } from "../../../errors/index.js";
import { withoutNul } from "../dialect.js";
import { type Driver, endsOf, type OpenTransaction, type Purpose } from "../driver.js";
import { applyMissingSteps, isNewest, readVersion, type SchemaVersion } from "../migrate.js";
import { reservedConnections, type ResolvedSqlStoreOptions } from "../options.js";
import { type Session, type SqlResult } from "../sql-tx.js";
import { type Tables } from "../tables/names.js";
import { runTransaction } from "../transaction.js";
import { postgresSchema } from "./migrations.js";
import { Begin, beginWithFirst } from "./pipeline/begin-with-first.js";
import { binaryList } from "./pipeline/binary-lists.js";
import { pipelineSettings, PostgresPipeline } from "./pipeline/postgres-pipeline.js";
import { canSendPipelined } from "./pipeline/send-pipelined.js";
import {
  eventsOf,
  expectCommitted,
  ignoreError,
  openPostgresPool,
  type PostgresAnswer,
  type PostgresClient,
  type PostgresPool,
  postgresResult,
} from "./pool.js";
import { numbered, postgresDialect } from "./postgres-dialect.js";
import { Wakeups } from "./wakeups.js";

/** A pool of the kit's own, or of the application. Each transaction has a client to itself. */
export class PostgresDriver implements Driver<PostgresClient> {
  readonly dialect = postgresDialect;
  readonly handlerTransactions?: number;
  readonly poolSize: number | undefined;
  shortage = "";
  readonly reader: Session = { run: (sql, params) => this.#run(sql, params) as never };
  readonly writer: Session = this.reader;
  readonly #source: string | PostgresPool;
  readonly #tables: Tables;
  readonly #lockTimeout: string;
  #maxConnections: number;
  /** Present where the connections are the kit's own; the pool of an application is used as it is. */
  readonly #pipeline?: PostgresPipeline;
  readonly #prepares: boolean;
  readonly #wakeups: Wakeups;
  /** The functions that end the open transactions. */
  readonly #transactions = new Set<() => void>();
  #opening: Promise<PostgresPool> | undefined;
  #pool: PostgresPool | undefined;

  constructor(source: string | PostgresPool, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#source = source;
    this.#tables = tables;
    // To the server 0 would mean to wait for ever.
    this.#lockTimeout = `lock_timeout = ${Math.max(1, options.busyTimeoutMs)}`;
    this.#maxConnections = options.maxConnections;
    this.#prepares = typeof source === "string" && options.preparedStatements;
    if (typeof source === "string") this.handlerTransactions = options.maxConnections - reservedConnections;
    else this.poolSize = source.options?.max;
    if (typeof source === "string" && this.#prepares) {
      this.#pipeline = new PostgresPipeline(source);
      this.#maxConnections -= 1;
    }
    this.#wakeups = new Wakeups(`${tables.prefix}events`, this.reader, () => this.#connect());
  }

  async begin(purpose?: Purpose): Promise<OpenTransaction<PostgresClient>> {
    const client = await this.#connect();
    const { open, begin, release } = this.#beginOn(client, [this.#lockTimeout]);
    if (purpose === "handler" && this.#prepares && canSendPipelined(client))
      return beginWithFirst(begin, open, release);
    try {
      await begin.send();
    } catch (error) {
      await open.rollback();
      throw postgresDialect.translate(error);
    }
    return open;
  }

  async beginPipelined(): Promise<OpenTransaction<PostgresClient> | undefined> {
    const pipeline = this.#pipeline;
    const client = await pipeline?.take();
    if (!pipeline || !client) return undefined;
    pipeline.gather();
    const settings = [this.#lockTimeout, ...pipelineSettings];
    const { open, begin } = this.#beginOn(client, settings, (error) => pipeline.free(error));
    // If the begin fails, the next statement fails too, and nothing is written before that has its result.
    void begin.send();
    return pipeline.pipelined(open);
  }

  /** Prepares a transaction on a client: its begin, and the statements that can follow it. */
  #beginOn(
    client: PostgresClient,
    settings: readonly string[],
    onEnd?: (error?: Error) => void,
  ): {
    open: OpenTransaction<PostgresClient>;
    begin: Begin;
    /** Gives the client back. */
    release: () => void;
  } {
    eventsOf(client).on("error", ignoreError);
    const pooled = {
      query: (sql: string) => client.query(sql),
      giveBack: () => {
        eventsOf(client).off("error", ignoreError);
        client.release();
      },
      // The client may still emit an error, so that the listener stays.
      cutOff: (error: Error) => client.release(error),
      onEnd,
    };
    const ends = endsOf(pooled, this.#transactions);
    const begin = new Begin(client, settings);
    const open: OpenTransaction<PostgresClient> = {
      raw: client,
      query: async (sql, params) => postgresResult(await client.query(sql, [...params])),
      run: async (sql, params) => {
        const [, answer] = await Promise.all([begin.send(), this.#ask(client, sql, params)]);
        return postgresResult(answer);
      },
      rollback: ends.rollback,
      abandon: ends.abandon,
      commit: async () => expectCommitted(await ends.commit()),
    };
    return { open, begin, release: ends.giveBack };
  }

  async migrate(): Promise<void> {
    this.#pool = await this.#open();
    const schema = postgresSchema(this.#tables);
    if (await isNewest(this.reader, schema)) return;
    await runTransaction(this, async (tx) => {
      // Processes that start at the same time wait until the first has made all tables, which may exceed `busyTimeoutMs`.
      await tx.run("set local lock_timeout = '60s'", []);
      await tx.run("select pg_advisory_xact_lock(hashtext(?))", [`tillkit ${this.#tables.meta}`]);
      await applyMissingSteps(tx, schema);
    });
  }

  async readVersion(): Promise<SchemaVersion> {
    this.#pool = await this.#open();
    return readVersion(this.reader, postgresSchema(this.#tables));
  }

  async warnings(): Promise<string[]> {
    const { rows } = await this.reader.run<{ name: string; setting: string }>(
      `select name, setting from pg_settings
        where name in ('synchronous_commit', 'fsync', 'full_page_writes') order by name`,
      [],
    );
    return rows
      .filter(
        ({ name, setting }) => setting === "off" || (name === "synchronous_commit" && setting === "local"),
      )
      .map(({ name, setting }) => `PostgreSQL has ${name} = ${setting}: a commit may be lost in a crash.`);
  }

  announce(): void {
    this.#wakeups.announce();
  }

  wake(listener: () => void): () => void {
    return this.#wakeups.listen(listener);
  }

  async close(): Promise<void> {
    for (const abandon of this.#transactions) abandon();
    await this.#wakeups.close();
    await this.#pipeline?.close();
    if (typeof this.#source === "string") await (await this.#opening?.catch(() => undefined))?.end();
  }

  /** Opens the pool once, also where the first wake-up and the first statement come at the same time. */
  #open(): Promise<PostgresPool> {
    this.#opening ??=
      typeof this.#source === "string"
        ? openPostgresPool(this.#source, this.#maxConnections)
        : Promise.resolve(this.#source);
    return this.#opening;
  }

  async #connect(): Promise<PostgresClient> {
    try {
      return await (await this.#open()).connect();
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Returns the kit's error for a failure of the pool, which names the shortage where a connection was not free in time. */
  #translate(error: unknown): unknown {
    const isWait = (error as Partial<Error>).message?.startsWith("timeout exceeded");
    if (this.shortage === "" || !isWait) return postgresDialect.translate(error);
    const message = `No connection of the PostgreSQL pool was free in time. ${this.shortage}`;
    return new TillkitError("store_unavailable", message, { cause: error });
  }

  /**
   * Runs a statement of the kit: prepared, where the pool is the kit's own. The pool of an application may be another package than
   * pg, or lead to a pooler that mixes up sessions.
   */
  #ask(
    client: Pick<PostgresClient, "query">,
    sql: string,
    params: readonly unknown[],
  ): Promise<PostgresAnswer> {
    const { text, name } = numbered(sql);
    const values = params.map(bindable);
    if (!this.#prepares) return client.query(text, values);
    for (const [index, value] of values.entries())
      if (Array.isArray(value)) values[index] = binaryList(value) ?? value;
    if (name === undefined) return client.query(text, values);
    return (client as unknown as NamedQueries).query({ name, text, values });
  }

  async #run(sql: string, params: readonly unknown[]): Promise<SqlResult> {
    try {
      return postgresResult(await this.#ask(this.#pool!, sql, params));
    } catch (error) {
      throw this.#translate(error);
    }
  }
}

/** The query of pg that takes a name. */
interface NamedQueries {
  query(statement: { name: string; text: string; values: unknown[] }): Promise<PostgresAnswer>;
}

function bindable(value: unknown): unknown {
  return Array.isArray(value) ? value.map(withoutNul) : withoutNul(value);
}
