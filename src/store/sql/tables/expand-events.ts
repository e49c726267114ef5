import { type Dialect } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database, type Tables } from "./names.js";

/** The maximum number of events in one round of expansion. */
export const eventsPerRound = 500;

/** Returns the condition that the event `e` has no dispatches yet, and may get some. */
export function isUnexpanded({ dialect, tables }: Database): string {
  return dialect.commitsInOrder ? `e.seq > ${lastExpanded(tables)}` : "e.unexpanded = 1";
}

/** Returns the condition that the event `e` has all of its dispatches. Without a handler there are none, and no expansion. */
export function isExpanded({ dialect, tables }: Database): string {
  const expanded = dialect.commitsInOrder ? `e.seq <= ${lastExpanded(tables)}` : "e.unexpanded is null";
  return `(${expanded} or not exists (select 1 from ${tables.handlers}))`;
}

/** Keeps processes from storing a handler until the transaction ends. Others may do the same at that time. */
export async function keepHandlers(tx: Transaction, { dialect, tables }: Database): Promise<void> {
  if (dialect.forShare !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forShare}`, []);
}

/**
 * Returns an expression for the number of the newest event that has its dispatches, where one number tells this. It is null where
 * there is no handler, so that no event is read then: a new handler starts with the events after it.
 */
function lastExpanded(tables: Tables): string {
  return `(select cast(value as integer) from ${tables.meta}
    where name = 'expanded' and exists (select 1 from ${tables.handlers}))`;
}

/** Gives events one dispatch for each known handler that wants them, oldest first. Returns the number of events. */
export async function expandSome(tx: Transaction, db: Database): Promise<number> {
  await keepHandlers(tx, db);
  let expanded = 0;
  for (let round = 0; round < db.dialect.maxExpansionRounds; round++) {
    const count = await expandRound(tx, db);
    expanded += count;
    if (count < eventsPerRound) break;
  }
  return expanded;
}

/** Gives all events their dispatches. The caller keeps other expansions out. */
export async function expandAll(tx: Transaction, db: Database): Promise<void> {
  const { dialect, tables } = db;
  while ((await expandRound(tx, db)) === eventsPerRound);
  if (!dialect.commitsInOrder) return;
  // Includes the events that were recorded while there was no handler.
  await tx.run(
    `update ${tables.meta} set value = (select coalesce(max(seq), 0) from ${tables.events}) where name = 'expanded'`,
    [],
  );
}

async function expandRound(tx: Transaction, db: Database): Promise<number> {
  const { dialect, tables } = db;
  const unexpanded = `from ${tables.events} e where ${isUnexpanded(db)} order by seq
    limit ${eventsPerRound} ${dialect.forUpdateSkipLocked}`;
  if (dialect.writesInQueries) return expandInOneStatement(tx, db, unexpanded);
  const { rows } = await tx.run<{ seq: unknown }>(`select seq ${unexpanded}`, []);
  if (rows.length === 0) return 0;
  const seqs = rows.map((row) => Number(row.seq));
  const which = dialect.among("seq", seqs);
  // A process of the previous version that still runs gives its events their dispatches itself.
  const orNothing = dialect.commitsInOrder ? "on conflict do nothing" : "";
  await tx.run(`${insertDispatches(db, tables.events)} where e.${which.sql} ${orNothing}`, which.params);
  if (dialect.commitsInOrder)
    await tx.run(`update ${tables.meta} set value = ? where name = 'expanded'`, [String(seqs.at(-1))]);
  else await tx.run(`update ${tables.events} set unexpanded = null where ${which.sql}`, which.params);
  return rows.length;
}

async function expandInOneStatement(tx: Transaction, db: Database, unexpanded: string): Promise<number> {
  const { rows } = await tx.run<{ count: unknown }>(
    `with fresh as (select seq, id, type ${unexpanded}),
      made as (${insertDispatches(db, "fresh")}),
      marked as (update ${db.tables.events} set unexpanded = null where seq = any(array(select seq from fresh)))
      select count(*) as count from fresh`,
    [],
  );
  return Number(rows[0]!.count);
}

/** Returns an insert of dispatches for the events `e`, due at any time of any clock. A condition for them may follow. */
function insertDispatches({ dialect, tables }: Database, events: string): string {
  return `insert into ${tables.dispatches}
    (event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt, failures, fence)
    select distinct e.id, h.name, e.type, e.seq, 'pending', h.name, 0, 0, 0, 0
    from ${events} e join ${tables.handlers} h on ${isWanted(dialect)}`;
}

/** Returns the condition that the handler `h` wants the event `e`. */
export function isWanted({ commitsInOrder }: Pick<Dialect, "commitsInOrder">): string {
  const isLater = commitsInOrder
    ? "e.seq > h.after_seq"
    : "(e.seq > h.after_seq or h.gaps like concat('%,', e.seq, ',%'))";
  return `(h.event = e.type or h.event = '*') and ${isLater}`;
}

/** A transaction that is open beside so many later events is not waited for. */
const maxLater = 1000;

/**
 * Returns the number of the newest event, and the numbers before it that no event has yet, as a text: `,7,9,`. Open transactions may
 * commit them, unless transactions commit in the order of their numbers: then there is no text.
 */
export async function readNumbers(
  tx: Transaction,
  { dialect, tables }: Database,
): Promise<{ newest: number; gaps?: string }> {
  const limit = dialect.commitsInOrder ? 1 : maxLater;
  const { rows } = await tx.run<{ seq: unknown }>(
    `select seq from ${tables.events} order by seq desc limit ${limit}`,
    [],
  );
  const seqs = rows.map(({ seq }) => Number(seq));
  const newest = seqs[0] ?? 0;
  if (dialect.commitsInOrder) return { newest };
  const gaps = seqs.flatMap((seq, index) => {
    const before = seqs[index + 1] ?? (seqs.length < maxLater ? 0 : seq - 1);
    return Array.from({ length: Math.min(seq - before - 1, maxLater) }, (_, gap) => seq - 1 - gap);
  });
  return { newest, gaps: `,${gaps.slice(0, maxLater).join(",")},` };
}
