import { orderOfMarked } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";
import { isExpanded, keepHandlers } from "./expand-events.js";
import { type Database } from "./names.js";

/** Forgets raw bytes and events that are final, at most `limit` of each. Returns how many. */
export async function pruneFinal(
  tx: Transaction,
  db: Database,
  { before, limit }: { before: string; limit: number },
): Promise<{ webhooks: number; events: number }> {
  return {
    webhooks: await pruneWebhooks(tx, db, before, limit),
    events: await pruneEvents(tx, db, before, limit),
  };
}

/** Deletes no bytes of a mismatch that nobody has settled: a person who accepts it needs them. */
async function pruneWebhooks(
  tx: Transaction,
  { dialect, tables }: Database,
  before: string,
  limit: number,
): Promise<number> {
  const { isMarked, orderBy } = orderOfMarked(dialect, "kept_since", "received_at");
  const { rows } = await tx.run<{ receipt_id: string }>(
    `select receipt_id from ${tables.webhooks} w where ${isMarked} ${orderBy} < ? and parked is null
        and (outcome <> 'mismatch' or exists
          (select 1 from ${tables.resolutions} r where r.receipt_id = w.receipt_id))
      order by ${orderBy} limit ? ${dialect.forUpdateSkipLocked}`,
    [before, limit],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.receipt_id);
  const which = dialect.among("receipt_id", ids);
  // The row stays, with its eventKey, so that a copy is still recognised.
  await tx.run(`update ${tables.webhooks} set raw_body = ?, kept_since = null where ${which.sql}`, [
    Buffer.alloc(0),
    ...which.params,
  ]);
  return rows.length;
}

async function pruneEvents(tx: Transaction, db: Database, before: string, limit: number): Promise<number> {
  const { dialect, tables: t } = db;
  await keepHandlers(tx, db);
  const [old, order] = dialect.sparesIndexes
    ? ["e.seq < ? and e.recorded_at < ?", "e.seq"]
    : ["e.recorded_at < ?", "e.recorded_at"];
  const bounds = dialect.sparesIndexes ? [await firstSeqSince(tx, t.events, before), before] : [before];
  const { rows } = await tx.run<{ seq: unknown; id: string }>(
    `select e.seq, e.id from ${t.events} e
      where ${old} and ${isExpanded(db)} and not exists
        (select 1 from ${t.dispatches} d where d.event_id = e.id and d.state not in ('done', 'retired'))
      order by ${order} limit ? ${dialect.forUpdateSkipLocked}`,
    [...bounds, limit],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  const dispatches = dialect.among("event_id", ids);
  await tx.run(`delete from ${t.dispatches} where ${dispatches.sql}`, dispatches.params);
  const seqs = rows.map(({ seq }) => Number(seq));
  const events = dialect.among("seq", seqs);
  await tx.run(`delete from ${t.events} where ${events.sql}`, events.params);
  return rows.length;
}

/**
 * Returns the number of the first event that was recorded at a time or later, by a binary search: events are numbered in the order
 * in which they are recorded. After a clock was set back this does not hold, and an event may stay longer.
 */
export async function firstSeqSince(tx: Transaction, table: string, time: string): Promise<number> {
  const ends = await tx.run<{ low: unknown; high: unknown }>(
    `select (select min(seq) from ${table}) as low, (select max(seq) + 1 from ${table}) as high`,
    [],
  );
  if (ends.rows[0]!.low === null) return 0;
  let [low, high] = [Number(ends.rows[0]!.low), Number(ends.rows[0]!.high)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const next = await tx.run<{ recorded_at: string }>(
      `select recorded_at from ${table} where seq >= ? order by seq limit 1`,
      [middle],
    );
    const [found] = next.rows;
    // None where another process has pruned the newest ones.
    if (found && found.recorded_at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
