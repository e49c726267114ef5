import { type Claim, type HandlerKey, type Settlement } from "../../payment-store.js";
import { type Dialect, type Fragment, placeholders } from "../dialect.js";
import { type KitTx, type Session } from "../sql-tx.js";
import { eventOf, type EventRow } from "./events.js";
import { type Tables } from "./names.js";
import { chunks } from "./write-rows.js";

interface ClaimRow extends EventRow {
  handler: string;
  fence: number | string;
  attempt: number | string;
  failures: number | string;
}

/** What a claim would find: asked of committed rows, so that an idle poll takes no lock. */
export async function anythingToClaim(
  reader: Session,
  dialect: Dialect,
  tables: Tables,
  handlers: readonly HandlerKey[],
): Promise<{ unexpanded: boolean; due: boolean }> {
  const branches = dueBranches(dialect, tables, handlers);
  const due = branches.map(({ sql }) => `exists (select 1 ${sql})`).join(" or ");
  const { rows } = await reader.run<{ unexpanded: unknown; due: unknown }>(
    `select case when exists (select 1 from ${tables.events} where unexpanded = 1) then 1 else 0 end as unexpanded,
      case when ${due} then 1 else 0 end as due`,
    branches.flatMap(({ params }) => params),
  );
  return { unexpanded: Number(rows[0]!.unexpanded) === 1, due: Number(rows[0]!.due) === 1 };
}

/** Leases at most `limit` due dispatches of the named handlers, oldest event first. */
export async function takeDue(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  options: { handlers: readonly HandlerKey[]; limit: number; leaseMs: number },
): Promise<Claim[]> {
  // A branch per handler: each reads its own part of the index in event order, and stops at the limit.
  const branches = dueBranches(dialect, tables, options.handlers).map(({ sql, params }, index) => ({
    sql: `select * from (select event_id, handler, event_seq, fence, attempt, failures ${sql}
      order by event_seq limit ? ${dialect.forUpdateSkipLocked}) branch${index}`,
    params: [...params, options.limit],
  }));
  const { rows } = await tx.run<ClaimRow>(
    `select d.handler, d.fence, d.attempt, d.failures, e.id, e.type, e.client_id, e.recorded_at, e.payload
      from (${branches.map(({ sql }) => sql).join(" union all ")}) d
      join ${tables.events} e on e.id = d.event_id order by d.event_seq, d.handler limit ?`,
    [...branches.flatMap(({ params }) => params), options.limit],
  );
  for (const group of chunks(rows, 100)) {
    const which = group.map(() => "(event_id = ? and handler = ?)").join(" or ");
    await tx.run(
      `update ${tables.dispatches} set state = 'leased', fence = fence + 1, attempt = attempt + 1,
        due_at = ${dialect.now} + ? where ${which}`,
      [Math.round(options.leaseMs), ...group.flatMap((row) => [row.id, row.handler])],
    );
  }
  return rows.map((row) => ({
    event: eventOf(row),
    handler: row.handler,
    fence: Number(row.fence) + 1,
    attempt: Number(row.attempt) + 1,
    failures: Number(row.failures),
  }));
}

/** Ends a run, if its fence is still the newest. */
export async function settleDispatch(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  settlement: Settlement,
): Promise<boolean> {
  const { sql, params } = assignments(dialect, settlement);
  const { affected } = await tx.run(
    `update ${tables.dispatches} set ${sql}, settled_at = ${dialect.now} where event_id = ? and handler = ? and fence = ? and state = 'leased'`,
    [...params, settlement.eventId, settlement.handler, settlement.fence],
  );
  return affected > 0;
}

function assignments(dialect: Dialect, { state, retryInMs, error }: Settlement): Fragment {
  const over = "open_handler = null, due_at = null";
  switch (state) {
    case "done":
      return { sql: `state = 'done', ${over}`, params: [] };
    case "dead":
      return { sql: `state = 'dead', dead = 1, ${over}, error = ?`, params: [error ?? null] };
    case "released":
      return { sql: `state = 'pending', attempt = attempt - 1, due_at = ${dialect.now}`, params: [] };
    case "failed":
      return {
        sql: `state = 'pending', failures = failures + 1, due_at = ${dialect.now} + ?, error = ?`,
        params: [Math.round(retryInMs ?? 0), error ?? null],
      };
  }
}

/** Extends a lease, on a connection of its own. */
export async function renewLease(
  writer: Session,
  dialect: Dialect,
  tables: Tables,
  claim: { eventId: string; handler: string; fence: number },
  leaseMs: number,
): Promise<boolean> {
  const { affected } = await writer.run(
    `update ${tables.dispatches} set due_at = ${dialect.now} + ?
      where event_id = ? and handler = ? and fence = ? and state = 'leased'`,
    [Math.round(leaseMs), claim.eventId, claim.handler, claim.fence],
  );
  return affected > 0;
}

/** For each handler name, its due dispatches of the event types for which it is named. */
function dueBranches(dialect: Dialect, tables: Tables, handlers: readonly HandlerKey[]): Fragment[] {
  const types = new Map<string, Set<string>>();
  for (const { event, name } of handlers) types.set(name, (types.get(name) ?? new Set()).add(event));
  return [...types].map(([name, wanted]) => {
    const only = wanted.has("*") ? "" : `and event_type in (${placeholders(wanted.size)})`;
    return {
      sql: `from ${tables.dispatches} where open_handler = ? ${only} and due_at <= ${dialect.now}`,
      params: [name, ...(only === "" ? [] : wanted)],
    };
  });
}
