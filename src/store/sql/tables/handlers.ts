import { hasCode } from "../../../errors/index.js";
import {
  type HandlerKey,
  type HandlerSummary,
  type Registration,
  type RetireOptions,
} from "../../contract.js";
import { handlerId, summarizedBy } from "../../rules/dispatches.js";
import { allOf, type Fragment } from "../driver/dialect.js";
import { type Driver } from "../driver/driver.js";
import { type Session } from "../driver/sql-tx.js";
import { retryConflicts } from "../transaction/retry-conflicts.js";
import { runTransaction, type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { expandAll, isUnexpanded, isWanted, readNumbers } from "./expand-events.js";
import { insertAll } from "./write-rows.js";

/** The newest events at the first registration of a handler by this process. */
interface Newest {
  ids: ReadonlySet<string>;
  /** The time of the oldest of these events. Absent if the store had no older events. */
  from?: string;
}

const maxNewest = 1000;

/**
 * Registers handlers. Remembers the newest events at the first registration of each handler, because the
 * store may forget a handler. The clocks of the processes may differ, so a time is not enough.
 */
export class Registrations<Raw> {
  readonly #driver: Driver<Raw>;
  readonly #db: Database;
  readonly #first = new Map<string, Newest>();

  constructor(driver: Driver<Raw>, db: Database) {
    this.#driver = driver;
    this.#db = db;
  }

  async register(handlers: readonly Registration[]): Promise<void> {
    const { reader, dialect } = this.#driver;
    const first = handlers.filter(({ since }) => since === undefined);
    if (first.length > 0) {
      const newest = await readNewest(reader, this.#db);
      for (const handler of first) this.#first.set(handlerId(handler), newest);
    }
    if ((await unknownHandlers(reader, this.#db, handlers)).length === 0) return;
    const store = (tx: Transaction<Raw>): Promise<void> => this.#store(tx, handlers);
    // In a Galera cluster, servers do not see each other's locks, so another one may store the same name.
    const isDeadlock = (error: unknown) => hasCode(error, "store_conflict") || dialect.isDeadlock(error);
    await retryConflicts({ isDeadlock }, () => runTransaction(this.#driver, store, "upkeep"));
  }

  /**
   * Stores handlers. A new handler starts with the events that commit after its registration. A handler that
   * the store had forgotten also gets the events since its first registration.
   */
  async #store(tx: Transaction, handlers: readonly Registration[]): Promise<void> {
    const { dialect, tables } = this.#db;
    await keepExpansionsOut(tx, this.#db);
    const unknown = await unknownHandlers(tx, this.#db, handlers);
    if (unknown.length === 0) return;
    const { newest, gaps } = await readNumbers(tx, this.#db);
    // No handler wants the events that were recorded while there was no handler, so they count as expanded.
    if (dialect.commitsInOrder)
      await tx.run(
        `update ${tables.meta} set value = ? where name = 'expanded' and not exists (select 1 from ${tables.handlers})`,
        [String(newest)],
      );
    const columns = ["event", "name", "after_seq", ...(gaps === undefined ? [] : ["gaps"])];
    const rows = unknown.map(({ event, name }) => [event, name, newest, gaps].slice(0, columns.length));
    await insertAll(tx, dialect, { table: tables.handlers, columns, rows, numbers: ["after_seq"] });
    for (const { since, ...handler } of unknown) {
      if (since === undefined) continue;
      const before = this.#first.get(handlerId(handler)) ?? { ids: new Set(), from: since };
      await dispatchMissing(tx, this.#db, handler, before, newest);
    }
  }
}

async function readNewest(reader: Session, { tables }: Database): Promise<Newest> {
  const { rows } = await reader.run<{ id: string; recorded_at: string }>(
    `select id, recorded_at from ${tables.events} order by seq desc limit ${maxNewest}`,
    [],
  );
  const ids = new Set(rows.map(({ id }) => id));
  return rows.length < maxNewest ? { ids } : { ids, from: rows.at(-1)!.recorded_at };
}

/** Returns the handlers that the store does not know yet. */
async function unknownHandlers(
  session: Session,
  { tables }: Database,
  handlers: readonly Registration[],
): Promise<Registration[]> {
  const { rows } = await session.run<HandlerKey>(`select event, name from ${tables.handlers}`, []);
  const known = new Set(rows.map(handlerId));
  const unknown = new Map(handlers.map((handler) => [handlerId(handler), handler]));
  return [...unknown].filter(([id]) => !known.has(id)).map(([, handler]) => handler);
}

/** Makes the dispatches of a forgotten handler for the events that are not in `before` and not older. */
async function dispatchMissing(
  tx: Transaction,
  db: Database,
  { event, name }: HandlerKey,
  before: Newest,
  lastSeq: number,
): Promise<void> {
  const { tables: t } = db;
  const which = allOf([
    { sql: "e.seq <= ?", params: [lastSeq] },
    await isAfter(tx, db, before),
    { sql: "e.type = ?", params: [event === "*" ? undefined : event] },
    {
      sql: `not exists (select 1 from ${t.dispatches} d where d.event_id = e.id and d.handler = ?)`,
      params: [name],
    },
    // Leaves out the events whose dispatches the next expansion makes.
    {
      sql: `not exists (select 1 from ${t.handlers} h where h.name = ? and ${isWanted(db.dialect)} and ${isUnexpanded(db)})`,
      params: [name],
    },
  ]);
  const columns =
    "event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt, failures, fence";
  const { rows } = await tx.run<{ id: string; type: string; seq: unknown }>(
    `select e.id, e.type, e.seq from ${t.events} e where ${which.sql} order by e.seq`,
    which.params,
  );
  for (const row of rows.filter(({ id }) => !before.ids.has(id)))
    await tx.run(`insert into ${t.dispatches} (${columns}) values (?, ?, ?, ?, 'pending', ?, 0, 0, 0, 0)`, [
      row.id,
      name,
      row.type,
      Number(row.seq),
      name,
    ]);
}

/**
 * Returns the condition that event `e` is not older than these events. An older copy has only the oldest of
 * them, or none. Their numbers are the same as before, and later events have other ids. If there were no
 * older events, the condition has no value, so `allOf` leaves it out.
 */
async function isAfter(
  tx: Transaction,
  { dialect, tables }: Database,
  { ids, from }: Newest,
): Promise<Fragment> {
  const since = { sql: "e.recorded_at >= ?", params: [from] };
  if (from === undefined || ids.size === 0) return since;
  const which = dialect.among("id", [...ids]);
  const { rows } = await tx.run<{ oldest: unknown }>(
    `select min(seq) as oldest from ${tables.events} where ${which.sql}`,
    which.params,
  );
  const { oldest } = rows[0]!;
  return oldest === null ? since : { sql: "e.seq >= ?", params: [Number(oldest)] };
}

/**
 * Deletes handlers of a name. First makes the dispatches of committed events, so that the caller can retire
 * these dispatches, too.
 */
export async function deleteHandlers(
  tx: Transaction,
  db: Database,
  { handler, event }: Pick<RetireOptions, "handler" | "event">,
): Promise<void> {
  await keepExpansionsOut(tx, db);
  await expandAll(tx, db);
  const which = allOf([
    { sql: "name = ?", params: [handler] },
    { sql: "event = ?", params: [event] },
  ]);
  await tx.run(`delete from ${db.tables.handlers} where ${which.sql}`, which.params);
}

/**
 * Reads the registered handlers. Counts the dead dispatches of each handler, and its open dispatches,
 * including dispatches that are not made yet.
 */
export async function summarizeHandlers(reader: Session, db: Database): Promise<HandlerSummary[]> {
  const { tables: t } = db;
  const handlers = await reader.run<HandlerKey>(`select event, name from ${t.handlers}`, []);
  const { rows } = await reader.run<{ kind: "waiting" | "dead"; name: string; count: unknown }>(
    `select 'waiting' as kind, open_handler as name, count(*) as count from ${t.dispatches}
      where open_handler is not null group by open_handler
    union all select 'dead', handler, count(*) from ${t.dispatches} where dead = 1 group by handler
    union all select 'waiting', name, count(*) from (select distinct h.name as name, e.seq as seq
      from ${t.events} e join ${t.handlers} h on ${isWanted(db.dialect)} where ${isUnexpanded(db)}) fresh group by name`,
    [],
  );
  return summarizedBy(handlers.rows, (kind, name) =>
    rows
      .filter((row) => row.kind === kind && row.name === name)
      .reduce((sum, row) => sum + Number(row.count), 0),
  );
}

/**
 * Keeps all expansions out until the transaction ends, so that no expansion sees only some of the handlers.
 */
async function keepExpansionsOut(tx: Transaction, { dialect, tables }: Database): Promise<void> {
  if (dialect.lockRowsOut) await tx.run(dialect.lockRowsOut(tables.meta), []);
  else if (dialect.forUpdate !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forUpdate}`, []);
}
