import { type Dialect, marked } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { isExpanded } from "./expand-events.js";
import { type Tables } from "./names.js";

/** Forgets raw bytes and events that are final, at most `limit` of each. */
export async function pruneFinal(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  { before, limit }: { before: string; limit: number },
): Promise<{ webhooks: number; events: number }> {
  return {
    webhooks: await pruneWebhooks(tx, dialect, tables, before, limit),
    events: await pruneEvents(tx, dialect, tables, before, limit),
  };
}

async function pruneWebhooks(
  tx: KitTx,
  dialect: Dialect,
  t: Tables,
  before: string,
  limit: number,
): Promise<number> {
  const kept = marked(dialect, "kept_since", "received_at");
  const { rows } = await tx.run<{ receipt_id: string }>(
    `select receipt_id from ${t.webhooks} where ${kept.is} ${kept.at} < ? and parked is null order by ${kept.at} limit ?
      ${dialect.forUpdateSkipLocked}`,
    [before, limit],
  );
  if (rows.length === 0) return 0;
  const which = dialect.among(
    "receipt_id",
    rows.map((row) => row.receipt_id),
  );
  // The row stays, with its eventKey: a copy of it is still a duplicate.
  await tx.run(`update ${t.webhooks} set raw_body = ?, kept_since = null where ${which.sql}`, [
    Buffer.alloc(0),
    ...which.params,
  ]);
  return rows.length;
}

async function pruneEvents(
  tx: KitTx,
  dialect: Dialect,
  t: Tables,
  before: string,
  limit: number,
): Promise<number> {
  const [old, order] = dialect.sparesIndexes
    ? ["e.seq < ? and e.recorded_at < ?", "e.seq"]
    : ["e.recorded_at < ?", "e.recorded_at"];
  const bounds = dialect.sparesIndexes ? [await seqOfFirstSince(tx, t, before), before] : [before];
  const { rows } = await tx.run<{ seq: unknown; id: string }>(
    `select e.seq, e.id from ${t.events} e
      where ${old} and ${isExpanded(dialect, t)} and not exists
        (select 1 from ${t.dispatches} d where d.event_id = e.id and d.state <> 'done')
      order by ${order} limit ? ${dialect.forUpdateSkipLocked}`,
    [...bounds, limit],
  );
  if (rows.length === 0) return 0;
  const dispatches = dialect.among(
    "event_id",
    rows.map(({ id }) => id),
  );
  await tx.run(`delete from ${t.dispatches} where ${dispatches.sql}`, dispatches.params);
  const events = dialect.among(
    "seq",
    rows.map(({ seq }) => Number(seq)),
  );
  await tx.run(`delete from ${t.events} where ${events.sql}`, events.params);
  return rows.length;
}

/**
 * The number of the first event that was recorded at a time or later, found by halving: events are numbered in the order
 * in which they are recorded. Only behind a clock that was set back this is not so, and an event may wait longer.
 */
async function seqOfFirstSince(tx: KitTx, t: Tables, time: string): Promise<number> {
  const ends = await tx.run<{ low: unknown; high: unknown }>(
    `select (select min(seq) from ${t.events}) as low, (select max(seq) + 1 from ${t.events}) as high`,
    [],
  );
  if (ends.rows[0]!.low === null) return 0;
  let [low, high] = [Number(ends.rows[0]!.low), Number(ends.rows[0]!.high)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const next = await tx.run<{ recorded_at: string }>(
      `select recorded_at from ${t.events} where seq >= ? order by seq limit 1`,
      [middle],
    );
    if (next.rows[0]!.recorded_at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
