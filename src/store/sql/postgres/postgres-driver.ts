import { TillkitError } from "../../../errors/index.js";
import { hostOf } from "../../../shared/because.js";
import { withoutNul } from "../driver/dialect.js";
import { type Driver, type OpenTransaction, type Purpose, type SchemaVersion } from "../driver/driver.js";
import { type Session, type SqlResult } from "../driver/sql-tx.js";
import { reservedConnections, type ResolvedSqlStoreOptions } from "../options.js";
import { AnswerLimits } from "../pooled/answer-limits.js";
import { endsOf, isGone } from "../pooled/connections.js";
import { askPostgres, migrateKnown, refuseUnsafeServer, serverWarnings } from "../schema/identify-server.js";
import { isNewest, readVersion } from "../schema/migrate.js";
import { type Tables } from "../tables/names.js";
import { runTransaction } from "../transaction/transaction.js";
import { postgresSchema, upgradeAlone } from "./migrations.js";
import { Begin, beginWithFirst } from "./pipeline/begin-with-first.js";
import { binaryList } from "./pipeline/binary-lists.js";
import { pipelineSettings, PostgresPipeline } from "./pipeline/postgres-pipeline.js";
import { canSendPipelined } from "./pipeline/send-pipelined.js";
import {
  cutOffClient,
  eventsOf,
  expectCommitted,
  openPostgresPool,
  type PostgresAnswer,
  type PostgresClient,
  type PostgresPool,
  postgresResult,
  socketOf,
  takeClient,
  postgresWaitsForLock,
  type WatchedClient,
} from "./pool.js";
import { isPostgresSessionOver, isSharedSession, numbered, postgresDialect } from "./postgres-dialect.js";
import { durabilityWarnings, sharesSessions } from "./server-checks.js";
import { Wakeups } from "./wakeups.js";

/** Uses a pool of the kit's own, or of the application. Each transaction has a client to itself. */
export class PostgresDriver implements Driver<PostgresClient> {
  readonly dialect = postgresDialect;
  readonly handlerTransactions?: number;
  readonly poolSize: number | undefined;
  shortage = "";
  readonly reader: Session = { run: (sql, params) => this.#run(sql, params) as never };
  readonly slowReader: Session = { run: (sql, params) => this.#run(sql, params, "upkeep") as never };
  readonly writer: Session = this.reader;
  readonly query: Driver<PostgresClient>["query"] = (sql, params) => this.#run(sql, params, "application");
  readonly #source: string | PostgresPool;
  readonly #tables: Tables;
  readonly #busyTimeoutMs: number;
  #maxConnections: number;
  /** Present if the kit opens the connections and prepares statements. */
  readonly #pipeline?: PostgresPipeline;
  /** Whether statements are prepared. Becomes false if a pooler shares sessions between clients. */
  #prepares: boolean;
  readonly #wakeups: Wakeups;
  readonly #answers: AnswerLimits;
  /** The functions that end the open transactions. */
  readonly #transactions = new Set<() => void>();
  #opening: Promise<PostgresPool> | undefined;

  constructor(source: string | PostgresPool, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#source = source;
    this.#answers = new AnswerLimits(options.busyTimeoutMs, isPostgresSessionOver);
    if (typeof source !== "string") this.#answers.watchPool(source, "connect", (client) => client);
    this.#tables = tables;
    // For the server, 0 would mean no time limit.
    this.#busyTimeoutMs = Math.max(1, options.busyTimeoutMs);
    this.#maxConnections = options.maxConnections;
    this.#prepares = typeof source === "string" && options.preparedStatements;
    if (typeof source === "string") this.handlerTransactions = options.maxConnections - reservedConnections;
    else this.poolSize = source.options?.max;
    if (typeof source === "string" && this.#prepares) {
      this.#pipeline = new PostgresPipeline(source, (pool) => this.#connect(pool));
      this.#maxConnections -= 1;
    }
    this.#wakeups = new Wakeups(`${tables.prefix}events`, this.reader, () => this.#take());
  }

  async begin(purpose?: Purpose): Promise<OpenTransaction<PostgresClient>> {
    const client = await this.#connect();
    const { open, begin, release } = this.#beginOn(client, {}, purpose);
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
    const pipeline = this.#prepares ? this.#pipeline : undefined;
    const client = await pipeline?.take();
    if (!pipeline || !client) return undefined;
    pipeline.gather();
    const { open, begin } = this.#beginOn(client, pipelineSettings, "record", () => pipeline.free());
    // If the begin fails, the next statement also fails, and nothing is written before that.
    void begin.send();
    return pipeline.pipelined(open);
  }

  /** Prepares a transaction on a client: its begin, and the statements that can follow. */
  #beginOn(
    client: PostgresClient,
    settings: Readonly<Record<string, string>>,
    purpose?: Purpose,
    onEnd?: () => void,
  ): {
    open: OpenTransaction<PostgresClient>;
    begin: Begin;
    /** Gives the client back. */
    release: () => void;
  } {
    const { ask, giveBack, abandon, rollback, commit } = this.#watch(client, onEnd);
    const begin = new Begin(client, ask, { ...this.#settings(purpose), ...settings });
    const open: OpenTransaction<PostgresClient> = {
      raw: client,
      ask,
      query: async (sql, params) =>
        postgresResult(await ask(async () => client.query(sql, [...params]), "application")),
      run: async (sql, params) => {
        const asking = ask(async () => this.#ask(client, sql, params), purpose);
        const [, answer] = await Promise.all([begin.send(), asking]);
        return postgresResult(answer);
      },
      rollback,
      abandon,
      isLost: () => isGone(socketOf(client)),
      commit: async () => expectCommitted(await commit()),
    };
    return { open, begin, release: giveBack };
  }

  /**
   * Returns the server's settings for a transaction. The server does not notice that a firewall dropped a
   * connection, so it ends the kit's own transactions when they are idle for twice `limitMs`. An application
   * may pause longer.
   */
  #settings(purpose: Purpose | undefined): Record<string, string> {
    const settings = { lock_timeout: String(this.#busyTimeoutMs), array_nulls: "on" };
    if (purpose === undefined || purpose === "handler") return settings;
    return { ...settings, idle_in_transaction_session_timeout: String(2 * this.#answers.limitMs) };
  }

  async #take(): Promise<WatchedClient> {
    return this.#watch(await this.#connect());
  }

  /** Returns a function that sends statements on a client, and functions that give the client back. */
  #watch(client: PostgresClient, onEnd?: () => void): WatchedClient {
    // A client that breaks while no statement runs reports this only with its `error` event.
    let ended: Error | undefined;
    const end = (error: Error): void => ends.abandon(error);
    const onError = (error: Error): void => end((ended ??= error));
    eventsOf(client).on("error", onError);
    const query = (sql: string) => client.query(sql);
    const waitsForLock = () => postgresWaitsForLock(this.reader, client);
    const isPoolFull = async () => ((await this.#opening)?.waitingCount ?? 0) > 0;
    const states = { whyEnded: () => ended, waitsForLock, isPoolFull };
    const ask = this.#answers.on({ session: client, query, cutOff: end, ...states });
    const pooled = {
      query: (sql: string) => ask(() => query(sql)),
      giveBack: () => {
        eventsOf(client).off("error", onError);
        client.release();
      },
      // The listener stays, because the client may still emit an error.
      cutOff: (error: Error) => cutOffClient(client, error),
      onEnd,
    };
    const ends = endsOf(pooled, this.#transactions);
    return { client, ask, ...ends };
  }

  /** Refuses an unsafe server. Prepares no statements if a pooler would mix them up. */
  async #examineServer() {
    try {
      if (this.#prepares) this.#prepares = !(await sharesSessions(await this.#take()));
    } catch (error) {
      throw this.#translate(error);
    }
    return refuseUnsafeServer(await askPostgres(this.reader));
  }

  async migrate(): Promise<void> {
    const server = await this.#examineServer();
    const schema = postgresSchema(this.#tables);
    await migrateKnown(server, postgresDialect, async () => {
      if (await isNewest(this.reader, schema)) return;
      await runTransaction(this, (tx) => upgradeAlone(tx, schema), "migration");
    });
  }

  async readVersion(): Promise<SchemaVersion> {
    await this.#examineServer();
    return readVersion(this.reader, postgresSchema(this.#tables));
  }

  async warnings(): Promise<string[]> {
    const unexamined = serverWarnings(await askPostgres(this.reader));
    // This product's settings may have other names.
    if (unexamined.length > 0) return unexamined;
    return durabilityWarnings(this.reader);
  }

  announce(): void {
    this.#wakeups.announce();
  }

  wake(listener: () => void): () => void {
    // Listening would take the only connection of the pool. Polls find the events.
    if (this.poolSize === 1) return () => {};
    return this.#wakeups.listen(listener);
  }

  async close(): Promise<void> {
    for (const abandon of this.#transactions) abandon();
    await this.#wakeups.close();
    await this.#pipeline?.close();
    if (typeof this.#source === "string") await (await this.#opening?.catch(() => undefined))?.end();
  }

  /** Opens the pool once, even for concurrent first calls. */
  #open(): Promise<PostgresPool> {
    this.#opening ??=
      typeof this.#source === "string"
        ? openPostgresPool(this.#source, this.#maxConnections)
        : Promise.resolve(this.#source);
    return this.#opening;
  }

  /** Takes a client. Closes clients that are suspected to be dead. */
  async #connect(pool?: PostgresPool): Promise<PostgresClient> {
    try {
      for (;;) {
        const client = await takeClient(pool ?? (await this.#open()));
        if (!this.#answers.isSuspect(client)) return client;
        cutOffClient(client, new Error("The connection is likely to be dead."));
      }
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Returns the kit's error for an error of the pool. If no connection was free, it contains `shortage`. */
  #translate(error: unknown): unknown {
    const isWait = (error as Partial<Error>).message?.startsWith("timeout exceeded");
    const place = typeof this.#source === "string" ? hostOf(this.#source, 5432) : undefined;
    if (this.shortage === "" || !isWait) return postgresDialect.translate(error, place);
    const message = `No connection of the PostgreSQL pool was free in time. ${this.shortage}`;
    return new TillkitError("store_unavailable", message, { cause: error });
  }

  /**
   * Runs a statement of the kit. Prepares it only in a pool of the kit's own. An application's pool may be of
   * another package than pg, or use a pooler that mixes up sessions.
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
    const asking = (client as unknown as NamedQueries).query({ name, text, values });
    // A pooler may appear after the start.
    asking.catch((error: unknown) => (this.#prepares &&= !isSharedSession(error)));
    return asking;
  }

  async #run(sql: string, params: readonly unknown[], purpose?: Purpose): Promise<SqlResult> {
    const { client, ask, giveBack, abandon } = await this.#take();
    try {
      const send = () =>
        purpose === "application" ? client.query(sql, [...params]) : this.#ask(client, sql, params);
      const answer = await ask(send, purpose);
      giveBack();
      return postgresResult(answer);
    } catch (error) {
      abandon();
      throw this.#translate(error);
    }
  }
}

/** The form of pg's `query` that takes a name. */
interface NamedQueries {
  query(statement: { name: string; text: string; values: unknown[] }): Promise<PostgresAnswer>;
}

function bindable(value: unknown): unknown {
  return Array.isArray(value) ? value.map(withoutNul) : withoutNul(value);
}
