import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { type Tables } from "./names.js";

/** How many events a round of expansion takes at most. */
export const eventsPerRound = 500;

/** Whether the event `e` has no dispatches yet, and may get some. */
export function isUnexpanded(dialect: Dialect, tables: Tables): string {
  return dialect.commitsInOrder ? `e.seq > ${lastExpanded(tables)}` : "e.unexpanded = 1";
}

/** Whether no dispatch of the event `e` is still to be made. */
export function isExpanded(dialect: Dialect, tables: Tables): string {
  if (!dialect.commitsInOrder) return "e.unexpanded is null";
  return `(e.seq <= ${lastExpanded(tables)} or not exists (select 1 from ${tables.handlers}))`;
}

/**
 * The number of the newest event that has its dispatches, where one number tells. Nothing where there is no handler, so that
 * no event is read however many there are: a new handler starts with those that come after it.
 */
function lastExpanded(tables: Tables): string {
  return `(select cast(value as integer) from ${tables.meta}
    where name = 'expanded' and exists (select 1 from ${tables.handlers}))`;
}

/** Gives events one dispatch for each remembered handler that wants them, oldest first; answers how many events. */
export async function expandSome(tx: KitTx, dialect: Dialect, tables: Tables): Promise<number> {
  // Shared with other expansions; excludes a process that is remembering a handler.
  if (dialect.forShare !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forShare}`, []);
  // Where the database is in this process, nothing else in it runs meanwhile.
  const rounds = tx.atOnce ? 1 : 10;
  let expanded = 0;
  for (let round = 0; round < rounds; round++) {
    const count = await expandRound(tx, dialect, tables);
    expanded += count;
    if (count < eventsPerRound) break;
  }
  return expanded;
}

/** The same for every event there is; the caller keeps other expansions out. */
export async function expandAll(tx: KitTx, dialect: Dialect, tables: Tables): Promise<void> {
  while ((await expandRound(tx, dialect, tables)) === eventsPerRound);
  if (!dialect.commitsInOrder) return;
  // Those too that were recorded when there was no handler.
  await tx.run(
    `update ${tables.meta} set value = (select coalesce(max(seq), 0) from ${tables.events}) where name = 'expanded'`,
    [],
  );
}

async function expandRound(tx: KitTx, dialect: Dialect, tables: Tables): Promise<number> {
  const unexpanded = `from ${tables.events} e where ${isUnexpanded(dialect, tables)} order by seq
    limit ${eventsPerRound} ${dialect.forUpdateSkipLocked}`;
  if (dialect.writesInQueries) return expandAtOnce(tx, dialect, tables, unexpanded);
  const { rows } = await tx.run<{ seq: unknown }>(`select seq ${unexpanded}`, []);
  if (rows.length === 0) return 0;
  const seqs = rows.map((row) => Number(row.seq));
  const which = dialect.among("seq", seqs);
  // A process of the version before, while it still runs, gives its events their dispatches itself.
  const orNothing = dialect.commitsInOrder ? "on conflict do nothing" : "";
  await tx.run(
    `${insertDispatches(dialect, tables, tables.events)} where e.${which.sql} ${orNothing}`,
    which.params,
  );
  await markExpanded(tx, dialect, tables, seqs);
  return rows.length;
}

/** The three as one statement: they go through the same rows. */
async function expandAtOnce(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  unexpanded: string,
): Promise<number> {
  const { rows } = await tx.run<{ count: unknown }>(
    `with fresh as (select seq, id, type ${unexpanded}),
      made as (${insertDispatches(dialect, tables, "fresh")}),
      marked as (update ${tables.events} set unexpanded = null where seq = any(array(select seq from fresh)))
      select count(*) as count from fresh`,
    [],
  );
  return Number(rows[0]!.count);
}

/**
 * Notes that they have their dispatches. A mark on each event would be written when it is recorded and again here, which
 * with the dispatches was a tenth of SQLite's time for a webhook; so it notes the newest.
 */
async function markExpanded(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  seqs: readonly number[],
): Promise<unknown> {
  if (dialect.commitsInOrder)
    return tx.run(`update ${tables.meta} set value = ? where name = 'expanded'`, [String(seqs.at(-1))]);
  const which = dialect.among("seq", seqs);
  return tx.run(`update ${tables.events} set unexpanded = null where ${which.sql}`, which.params);
}

/** Dispatches for what a condition behind it says of the events `e`. */
function insertDispatches(dialect: Dialect, tables: Tables, events: string): string {
  return `insert into ${tables.dispatches}
    (event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt, failures, fence)
    select distinct e.id, h.name, e.type, e.seq, 'pending', h.name, ${dialect.now}, 0, 0, 0
    from ${events} e join ${tables.handlers} h on h.event = e.type or h.event = '*'`;
}
