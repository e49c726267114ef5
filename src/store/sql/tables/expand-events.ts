import { type Dialect } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database, type Tables } from "./names.js";

/** The maximum number of events in one round of expansion. */
export const eventsPerRound = 500;

/** The time after which an expansion starts no further round. Registrations wait for running expansions. */
const maxRoundsMs = 250;

/** Returns the condition that event `e` has no dispatches yet and may get some. */
export function isUnexpanded({ dialect, tables }: Database): string {
  return dialect.commitsInOrder ? `e.seq > ${lastExpanded(tables)}` : "e.unexpanded = 1";
}

/** Returns the condition that event `e` has all of its dispatches. Without handlers, it is always true. */
export function isExpanded({ dialect, tables }: Database): string {
  const expanded = dialect.commitsInOrder ? `e.seq <= ${lastExpanded(tables)}` : "e.unexpanded is null";
  return `(${expanded} or not exists (select 1 from ${tables.handlers}))`;
}

/**
 * Keeps processes from storing a handler until the transaction ends. Several transactions may do this at the
 * same time.
 */
export async function keepHandlers(tx: Transaction, { dialect, tables }: Database): Promise<void> {
  if (dialect.forShare !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forShare}`, []);
}

/**
 * Returns an expression for the number of the newest event with dispatches, for dialects with
 * `commitsInOrder`. The expression is null if there is no handler. No event is then read, because a new
 * handler starts with later events.
 */
function lastExpanded(tables: Tables): string {
  return `(select cast(value as integer) from ${tables.meta}
    where name = 'expanded' and exists (select 1 from ${tables.handlers}))`;
}

/** Gives events a dispatch for each known handler that wants them. Returns the number of events. */
export async function expandSome(tx: Transaction, db: Database): Promise<number> {
  await keepHandlers(tx, db);
  const endsAt = performance.now() + maxRoundsMs;
  let expanded = 0;
  for (let round = 0; round < db.dialect.maxExpansionRounds; round++) {
    const count = await expandRound(tx, db);
    expanded += count;
    if (count < eventsPerRound || performance.now() > endsAt) break;
  }
  return expanded;
}

/** Gives all events their dispatches. The caller must keep other expansions out. */
export async function expandAll(tx: Transaction, db: Database): Promise<void> {
  const { dialect, tables } = db;
  while ((await expandRound(tx, db)) === eventsPerRound);
  if (!dialect.commitsInOrder) return;
  // Without a handler, `expandRound` finds no events, so the stored number may be too old.
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
  // A process of an earlier version, which makes dispatches itself, may have made some of these.
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

/** Returns an insert of due dispatches for the events `e`. A condition for the events may follow. */
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

/** If this many later events exist, an open transaction with an earlier number is ignored. */
const maxLater = 1000;

/**
 * Returns the number of the newest event, and a string of the earlier numbers that no event has yet: `,7,9,`.
 * Open transactions may still commit these numbers. If transactions commit in the order of numbers, there is
 * no string.
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
