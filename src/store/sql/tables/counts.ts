import { type StoreCounts } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type Session } from "../sql-tx.js";
import { isUnexpanded } from "./expand-events.js";
import { type Tables } from "./names.js";

/** What waits for a person or a handler. Every part reads a few entries of an index, however much is stored. */
export async function countWaiting(session: Session, dialect: Dialect, t: Tables): Promise<StoreCounts> {
  const { rows } = await session.run<{ dead: unknown; parked: unknown; undone: string | null }>(
    `select (select count(*) from ${t.dispatches} where dead = 1) as dead,
      (select count(*) from ${t.webhooks} where parked = 1) as parked,
      (select recorded_at from ${t.events} where seq = (select min(oldest.seq) from (
        select (select min(d.event_seq) from ${t.dispatches} d where d.open_handler = h.name) as seq
          from ${t.handlers} h
        union all
        select wanted.seq from (select e.seq from ${t.events} e where ${isUnexpanded(dialect, t)}
          and exists (select 1 from ${t.handlers} h where h.event = e.type or h.event = '*')
          order by e.seq limit 1) wanted
      ) oldest)) as undone`,
    [],
  );
  const { dead, parked, undone } = rows[0]!;
  return { dead: Number(dead), parked: Number(parked), ...(undone !== null && { oldestUndoneAt: undone }) };
}
