import { orderOfMarked } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";
import { isExpanded, keepHandlers } from "./expand-events.js";
import { type PrunedBatch, type PrunePosition } from "../../contract.js";
import { type Database } from "./names.js";

/** Deletes final bytes and events, at most `limit` each. Returns the numbers and the end position. */
export async function pruneFinal(
  tx: Transaction,
  db: Database,
  { before, limit, after }: { before: string; limit: number; after?: PrunePosition },
): Promise<PrunedBatch> {
  const webhooks = await pruneWebhooks(tx, db, { before, limit, from: after?.webhooks ?? "" });
  const events = await pruneEvents(tx, db, { before, limit, from: after?.events ?? "" });
  return {
    webhooks: webhooks.count,
    events: events.count,
    after: { webhooks: webhooks.end, events: events.end },
  };
}

/** The records before a time, from the position at which the last batch ended. */
interface PruneRange {
  before: string;
  limit: number;
  from: string;
}

/**
 * Deletes raw bytes of webhooks. A mismatch or an inadmissible webhook keeps its bytes until a person settles
 * it. A late report with an unknown status does not keep its bytes, because its row is enough for a person.
 */
async function pruneWebhooks(
  tx: Transaction,
  { dialect, tables }: Database,
  { before, limit, from }: PruneRange,
): Promise<{ count: number; end: string }> {
  const { isMarked, orderBy } = orderOfMarked(dialect, "kept_since", "received_at");
  const { rows } = await tx.run<{ receipt_id: string; place: string }>(
    `select receipt_id, ${orderBy} as place from ${tables.webhooks}
      where ${isMarked} ${orderBy} < ? and ${orderBy} >= ? and parked is null
        and (attention is null or attention not in ('mismatched', 'inadmissible'))
      order by ${orderBy} limit ? ${dialect.forUpdateSkipLocked}`,
    [before, from, limit],
  );
  if (rows.length === 0) return { count: 0, end: from };
  const ids = rows.map((row) => row.receipt_id);
  const which = dialect.among("receipt_id", ids);
  // The row stays with its eventKey, so that a copy is still recognised.
  await tx.run(`update ${tables.webhooks} set raw_body = ?, kept_since = null where ${which.sql}`, [
    Buffer.alloc(0),
    ...which.params,
  ]);
  return { count: rows.length, end: rows.at(-1)!.place };
}

async function pruneEvents(
  tx: Transaction,
  db: Database,
  { before, limit, from }: PruneRange,
): Promise<{ count: number; end: string }> {
  const { dialect, tables: t } = db;
  await keepHandlers(tx, db);
  const [old, order] = dialect.sparesIndexes
    ? ["e.seq < ? and e.recorded_at < ?", "e.seq"]
    : ["e.recorded_at < ?", "e.recorded_at"];
  const bounds = dialect.sparesIndexes ? [await firstSeqSince(tx, t.events, before), before] : [before];
  const { rows } = await tx.run<{ seq: unknown; id: string; place: unknown }>(
    `select e.seq, e.id, ${order} as place from ${t.events} e
      where ${old} and ${order} >= ? and ${isExpanded(db)} and not exists
        (select 1 from ${t.dispatches} d where d.event_id = e.id and d.state not in ('done', 'retired'))
      order by ${order} limit ? ${dialect.forUpdateSkipLocked}`,
    [...bounds, dialect.sparesIndexes ? Number(from) : from, limit],
  );
  if (rows.length === 0) return { count: 0, end: from };
  const ids = rows.map(({ id }) => id);
  const dispatches = dialect.among("event_id", ids);
  await tx.run(`delete from ${t.dispatches} where ${dispatches.sql}`, dispatches.params);
  const seqs = rows.map(({ seq }) => Number(seq));
  const events = dialect.among("seq", seqs);
  await tx.run(`delete from ${t.events} where ${events.sql}`, events.params);
  return { count: rows.length, end: String(rows.at(-1)!.place) };
}

/**
 * Returns the number of the first event that was recorded at a time or later. Uses a binary search, because
 * events are numbered in the order in which they are recorded. If a clock was set back, the number is not
 * exact. An event may then be pruned later.
 */
async function firstSeqSince(tx: Transaction, table: string, time: string): Promise<number> {
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
    // `found` is absent if another process has pruned the newest events.
    if (found && found.recorded_at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
