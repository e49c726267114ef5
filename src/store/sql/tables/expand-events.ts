import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { type Tables } from "./names.js";

const eventsPerRound = 500;

/** Gives events one dispatch for each remembered handler that wants them, oldest first; answers how many events. */
export async function expandSome(tx: KitTx, dialect: Dialect, tables: Tables): Promise<number> {
  // Shared with other expansions; excludes a process that is remembering a handler.
  if (dialect.forShare !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forShare}`, []);
  let expanded = 0;
  for (let round = 0; round < 10; round++) {
    const count = await expandRound(tx, dialect, tables);
    expanded += count;
    if (count < eventsPerRound) break;
  }
  return expanded;
}

/** The same for every event there is; the caller keeps other expansions out. */
export async function expandAll(tx: KitTx, dialect: Dialect, tables: Tables): Promise<void> {
  while ((await expandRound(tx, dialect, tables)) === eventsPerRound);
}

async function expandRound(tx: KitTx, dialect: Dialect, tables: Tables): Promise<number> {
  const unexpanded = `from ${tables.events} where unexpanded = 1 order by seq limit ${eventsPerRound}
    ${dialect.forUpdateSkipLocked}`;
  if (dialect.writesInQueries) return expandAtOnce(tx, dialect, tables, unexpanded);
  const { rows } = await tx.run<{ seq: unknown }>(`select seq ${unexpanded}`, []);
  if (rows.length === 0) return 0;
  const which = dialect.among(
    "seq",
    rows.map((row) => Number(row.seq)),
  );
  await tx.run(`${insertDispatches(dialect, tables, tables.events)} where e.${which.sql}`, which.params);
  await tx.run(`update ${tables.events} set unexpanded = null where ${which.sql}`, which.params);
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

/** Dispatches for what a condition behind it says of the events `e`. */
export function insertDispatches(dialect: Dialect, tables: Tables, events: string): string {
  return `insert into ${tables.dispatches}
    (event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt, failures, fence)
    select distinct e.id, h.name, e.type, e.seq, 'pending', h.name, ${dialect.now}, 0, 0, 0
    from ${events} e join ${tables.handlers} h on h.event = e.type or h.event = '*'`;
}
