import { storable } from "../dialect.js";
import { type Driver, type OpenTransaction, type Purpose } from "../driver.js";
import { reservedConnections, type ResolvedSqlStoreOptions } from "../options.js";
import { type Session, type SqlResult } from "../sql-tx.js";
import { type Tables } from "../tables/names.js";
import { binaryList } from "./pipeline/binary-lists.js";
import { Begin, expectCommitted, withLateBegin } from "./pipeline/late-begin.js";
import { migratePostgres } from "./migrate.js";
import {
  eventsOf,
  openPostgresPool,
  type PostgresAnswer,
  type PostgresClient,
  type PostgresPool,
} from "./pool.js";
import { numbered, postgresDialect } from "./postgres-dialect.js";
import { RecordingLane } from "./pipeline/recording-lane.js";
import { sendsTogether } from "./pipeline/send-together.js";
import { Wakeups } from "./wakeups.js";

/** A pool of the kit's own, or the application's. Each transaction has a client to itself. */
export class PostgresDriver implements Driver<PostgresClient> {
  readonly dialect = postgresDialect;
  readonly handlerTransactions?: number;
  readonly reader: Session = { run: (sql, params) => this.#run(sql, params) as never };
  readonly writer: Session = this.reader;
  readonly #source: string | PostgresPool;
  readonly #tables: Tables;
  /** 0 would mean "for ever" to the server. */
  readonly #lockTimeout: string;
  #maxConnections: number;
  /** Of the kit's own connections the one for recording; an application's pool is used as it is. */
  readonly #lane?: RecordingLane;
  readonly #prepares: boolean;
  readonly #wakeups: Wakeups;
  /** Ends each open transaction. */
  readonly #transactions = new Set<() => void>();
  #opening: Promise<PostgresPool> | undefined;
  #pool: PostgresPool | undefined;

  constructor(source: string | PostgresPool, tables: Tables, options: ResolvedSqlStoreOptions) {
    this.#source = source;
    this.#tables = tables;
    this.#lockTimeout = `lock_timeout = ${Math.max(1, options.busyTimeoutMs)}`;
    this.#maxConnections = options.maxConnections;
    this.#prepares = typeof source === "string" && options.preparedStatements;
    if (typeof source === "string") this.handlerTransactions = options.maxConnections - reservedConnections;
    if (typeof source === "string" && this.#prepares) {
      this.#lane = new RecordingLane(source);
      this.#maxConnections -= 1;
    }
    this.#wakeups = new Wakeups(`${tables.prefix}events`, () => this.#connect());
  }

  async begin(purpose?: Purpose): Promise<OpenTransaction<PostgresClient>> {
    const client = await this.#connect();
    const { open, begin, release } = this.#beginOn(client, [this.#lockTimeout]);
    if (purpose === "handler" && this.#prepares && sendsTogether(client))
      return withLateBegin(begin, open, resultOf, release);
    try {
      await begin.now();
    } catch (error) {
      await open.rollback();
      throw postgresDialect.translate(error);
    }
    return open;
  }

  /**
   * Measured with one webhook at a time: two round trips instead of five. Statements are planned once for any values:
   * planning anew took two thirds of their time. Never to read a whole table, which was small when they were planned; and
   * never to look for the key of each row of a group among all its keys (33 webhooks: a tenth of the time of the save).
   */
  async beginAhead(): Promise<OpenTransaction<PostgresClient> | undefined> {
    const client = await this.#lane?.take();
    if (!client) return undefined;
    const planned = ["plan_cache_mode = force_generic_plan", "enable_seqscan = off", "enable_nestloop = off"];
    const settings = [this.#lockTimeout, ...planned];
    this.#lane!.gather();
    const { open, begin } = this.#beginOn(client, settings);
    void begin.now();
    return {
      ...open,
      // A begin that fails fails the statement behind it as well, and nothing is written before that was answered.
      isOrdered: true,
      run: (sql, params) => {
        this.#lane!.gather();
        return open.run(sql, params);
      },
      commit: () => {
        this.#lane!.gather();
        return open.commit();
      },
    };
  }

  /** A begin, and what can be sent behind it. */
  #beginOn(
    client: PostgresClient,
    settings: readonly string[],
  ): {
    open: OpenTransaction<PostgresClient>;
    begin: Begin;
    /** Lets the connection go. */
    release: () => void;
  } {
    let released = false;
    const release = (error?: Error): void => {
      if (released) return;
      released = true;
      this.#transactions.delete(abandon);
      // One that is thrown away may still have something to say.
      if (!error) eventsOf(client).off("error", ignored);
      client.release(error);
    };
    const abandon = (): void => release(new Error("The transaction was abandoned."));
    const rollback = async (): Promise<void> => {
      try {
        await client.query("rollback");
        release();
      } catch (error) {
        release(error as Error);
      }
    };
    // A checked-out client that breaks while idle has nobody else who listens; its next statement fails anyway.
    eventsOf(client).on("error", ignored);
    this.#transactions.add(abandon);
    const begin = new Begin(client, settings);
    const open: OpenTransaction<PostgresClient> = {
      raw: client,
      query: async (sql, params) => resultOf(await client.query(sql, [...params])),
      run: async (sql, params) => {
        const [, answer] = await Promise.all([begin.now(), this.#ask(client, sql, params)]);
        return resultOf(answer);
      },
      rollback,
      abandon,
      commit: async () => {
        let answer: PostgresAnswer;
        try {
          answer = await client.query("commit");
        } catch (error) {
          release(error as Error);
          throw error;
        }
        release();
        expectCommitted(answer);
      },
    };
    return { open, begin, release };
  }

  async migrate(): Promise<void> {
    this.#pool = await this.#open();
    await migratePostgres(this, this.#tables);
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
    await this.#lane?.close();
    if (typeof this.#source === "string") await (await this.#opening?.catch(() => undefined))?.end();
  }

  /** Once, also where the first wake-up and the first statement come together. */
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
      throw postgresDialect.translate(error);
    }
  }

  /**
   * A statement of the kit. Prepared where the pool is the kit's own: planning took half of the database's time. A pool of
   * the application's may be something else than pg's, or lead to a pooler that mixes up sessions.
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
      return resultOf(await this.#ask(this.#pool!, sql, params));
    } catch (error) {
      throw postgresDialect.translate(error);
    }
  }
}

/** pg's own, in its form with a name. */
interface NamedQueries {
  query(statement: { name: string; text: string; values: unknown[] }): Promise<PostgresAnswer>;
}

function resultOf(answer: PostgresAnswer): SqlResult {
  return { rows: answer.rows as Record<string, unknown>[], affected: answer.rowCount ?? 0 };
}

function bindable(value: unknown): unknown {
  return Array.isArray(value) ? value.map(storable) : storable(value);
}

function ignored(): void {
  // Nothing to do; see where it is used.
}
