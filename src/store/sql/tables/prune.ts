import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
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
  const { rows } = await tx.run<{ seq: unknown }>(
    `select seq from ${t.webhooks} where kept_since < ? and parked is null order by kept_since limit ?
      ${dialect.forUpdateSkipLocked}`,
    [before, limit],
  );
  if (rows.length === 0) return 0;
  const which = dialect.among(
    "seq",
    rows.map(({ seq }) => Number(seq)),
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
  const { rows } = await tx.run<{ seq: unknown; id: string }>(
    `select e.seq, e.id from ${t.events} e
      where e.recorded_at < ? and e.unexpanded is null and not exists
        (select 1 from ${t.dispatches} d where d.event_id = e.id and d.state <> 'done')
      order by e.recorded_at limit ? ${dialect.forUpdateSkipLocked}`,
    [before, limit],
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
