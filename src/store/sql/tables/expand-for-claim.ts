import { type Claim, type ClaimOptions } from "../../contract.js";
import { placeholders } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";
import { claimOf, type ClaimRow, eventColumns, wantedTypes } from "./dispatches.js";
import { expandSome, isUnexpanded, isWanted, keepHandlers } from "./expand-events.js";
import { type Database } from "./names.js";

/** What an expansion did. */
export interface Expansion {
  /** The number of events that got their dispatches. */
  expanded: number;
  /** The dispatches that were leased when they were made. */
  claims: Claim[];
  /** Whether no event is left whose dispatches the claim could take. */
  isOver: boolean;
}

/**
 * Gives events their dispatches for a claim, oldest first. Where one statement can do it, the dispatches of as many events as the
 * claim has space for are leased when they are made, so that they are not written a second time.
 */
export async function expandForClaim(
  tx: Transaction,
  db: Database,
  options: ClaimOptions,
): Promise<Expansion> {
  const { limit } = options;
  const types = wantedTypes(options.handlers);
  // An event has at most one dispatch for each name.
  const events = db.dialect.writesInQueries ? Math.floor(limit / types.size) : 0;
  const { expanded, claims } =
    events > 0 ? await leaseNew(tx, db, options, events) : { expanded: 0, claims: [] };
  if (events > 0 && (expanded < events || claims.length >= limit)) return { expanded, claims, isOver: true };
  // There are many events that nobody here wants.
  const others = await expandSome(tx, db);
  return { expanded: expanded + others, claims, isOver: others === 0 };
}

async function leaseNew(
  tx: Transaction,
  db: Database,
  { handlers, leaseMs }: ClaimOptions,
  events: number,
): Promise<Omit<Expansion, "isOver">> {
  const { dialect, tables } = db;
  await keepHandlers(tx, db);
  const claimed = [...wantedTypes(handlers)].map(([name, types]) => ({
    sql: types.has("*") ? "h.name = ?" : `h.name = ? and e.type in (${placeholders(types.size)})`,
    params: [name, ...(types.has("*") ? [] : types)],
  }));
  const ms = Math.round(leaseMs);
  const { rows } = await tx.run<ClaimRow & { count: unknown }>(
    `with fresh as (select e.seq, ${eventColumns} from ${tables.events} e where ${isUnexpanded(db)}
        order by e.seq limit ? ${dialect.forUpdateSkipLocked}),
      wanted as (select distinct e.id, h.name, e.type, e.seq,
          case when ${claimed.map(({ sql }) => sql).join(" or ")} then 1 else 0 end as leased
        from fresh e join ${tables.handlers} h on ${isWanted}),
      made as (insert into ${tables.dispatches} (event_id, handler, event_type, event_seq, state, open_handler,
          due_at, waits_from, attempt, failures, fence)
        select id, name, type, seq, case leased when 1 then 'leased' else 'pending' end, name,
          case leased when 1 then ${dialect.now} + ? else 0 end, case leased when 1 then ${dialect.now} - ? end,
          leased, 0, leased from wanted returning event_id, handler, state, fence, attempt, failures),
      marked as (update ${tables.events} set unexpanded = null where seq = any(array(select seq from fresh))),
      leased as (select e.seq, d.handler, d.fence, d.attempt, d.failures, ${eventColumns}
        from made d join fresh e on e.id = d.event_id where d.state = 'leased')
      select of.count, leased.* from (select count(*) as count from fresh) of left join leased on true
      order by leased.seq, leased.handler`,
    [events, ...claimed.flatMap(({ params }) => params), ms, ms],
  );
  const leased = rows.filter(({ handler }) => (handler as string | null) !== null);
  return { expanded: Number(rows[0]!.count), claims: leased.map(claimOf) };
}
