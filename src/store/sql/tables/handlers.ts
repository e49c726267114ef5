import {
  type HandlerKey,
  type HandlerSummary,
  type Registration,
  type RetireOptions,
} from "../../contract.js";
import { summarizedBy } from "../../rules/dispatches.js";
import { allOf } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { expandAll, isUnexpanded, isWanted, readNumbers } from "./expand-events.js";
import { firstSeqSince } from "./prune.js";
import { insertAll } from "./write-rows.js";

/** Returns the handlers that the store does not know yet. */
export async function unknownHandlers(
  session: Session,
  { tables }: Database,
  handlers: readonly Registration[],
): Promise<Registration[]> {
  const { rows } = await session.run<HandlerKey>(`select event, name from ${tables.handlers}`, []);
  const known = new Set(rows.map(handlerId));
  const unknown = new Map(handlers.map((handler) => [handlerId(handler), handler]));
  return [...unknown].filter(([id]) => !known.has(id)).map(([, handler]) => handler);
}

/**
 * Stores handlers. A new handler starts with the events that commit after its registration. A handler that
 * the store had forgotten also gets the events since its first registration.
 */
export async function storeHandlers(
  tx: Transaction,
  db: Database,
  handlers: readonly Registration[],
): Promise<void> {
  const { dialect, tables } = db;
  await keepExpansionsOut(tx, db);
  const unknown = await unknownHandlers(tx, db, handlers);
  if (unknown.length === 0) return;
  const { newest, gaps } = await readNumbers(tx, db);
  // No handler wants the events that were recorded while there was no handler, so they count as expanded.
  if (dialect.commitsInOrder)
    await tx.run(
      `update ${tables.meta} set value = ? where name = 'expanded' and not exists (select 1 from ${tables.handlers})`,
      [String(newest)],
    );
  const columns = ["event", "name", "after_seq", ...(gaps === undefined ? [] : ["gaps"])];
  const rows = unknown.map(({ event, name }) => [event, name, newest, gaps].slice(0, columns.length));
  await insertAll(tx, dialect, { table: tables.handlers, columns, rows, numbers: ["after_seq"] });
  for (const handler of unknown)
    if (handler.since !== undefined) await dispatchSince(tx, db, handler, newest);
}

/** Makes the dispatches of a forgotten handler for the events since its first registration. */
async function dispatchSince(
  tx: Transaction,
  db: Database,
  { event, name, since = "" }: Registration,
  lastSeq: number,
): Promise<void> {
  const { tables: t } = db;
  const which = allOf([
    { sql: "e.seq >= ? and e.seq <= ?", params: [await firstSeqSince(tx, t.events, since), lastSeq] },
    { sql: "e.recorded_at >= ?", params: [since] },
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
  for (const row of rows)
    await tx.run(`insert into ${t.dispatches} (${columns}) values (?, ?, ?, ?, 'pending', ?, 0, 0, 0, 0)`, [
      row.id,
      name,
      row.type,
      Number(row.seq),
      name,
    ]);
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
  if (dialect.forUpdate !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forUpdate}`, []);
}

/** Returns a string that no other handler has, because names of events contain no space. */
export function handlerId({ event, name }: HandlerKey): string {
  return `${event} ${name}`;
}
