import { TillkitError } from "../../../errors/index.js";
import { type Claim, type HandlerKey, type Settlement } from "../../payment-store.js";
import { type Dialect, type Fragment, placeholders } from "../dialect.js";
import { type KitTx, type Session } from "../sql-tx.js";
import { eventOf, type EventRow } from "./events.js";
import { isUnexpanded } from "./expand-events.js";
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
    `select case when exists (select 1 from ${tables.events} e where ${isUnexpanded(dialect, tables)}) then 1 else 0 end as unexpanded,
      case when ${due} then 1 else 0 end as due`,
    branches.flatMap(({ params }) => params),
  );
  return { unexpanded: Number(rows[0]!.unexpanded) === 1, due: Number(rows[0]!.due) === 1 };
}

/** What a claim consists of. */
export interface ClaimSteps {
  /** Leases at most so many due dispatches of the named handlers, oldest event first. */
  take(limit: number): Promise<Claim[]>;
  /** Gives events their dispatches; answers how many events. */
  expand(): Promise<number>;
  /** Whether each of them commits by itself: what was taken stays taken when one behind it fails. */
  readonly commitApart: boolean;
}

/**
 * What is due first, and new events only where that leaves room: those are younger, and while much waits they cost a
 * claim nothing.
 */
export async function claimDue(
  steps: ClaimSteps,
  found: { unexpanded: boolean; due: boolean },
  limit: number,
): Promise<Claim[]> {
  const claims = found.due ? await steps.take(limit) : [];
  if (!found.unexpanded || claims.length >= limit) return claims;
  try {
    if ((await steps.expand()) > 0) claims.push(...(await steps.take(limit - claims.length)));
  } catch (error) {
    if (!steps.commitApart || claims.length === 0) throw error;
  }
  return claims;
}

interface TakeOptions {
  handlers: readonly HandlerKey[];
  limit: number;
  leaseMs: number;
}

/** Leases due dispatches. A statement reads them and another one writes, so it wants a transaction. */
export async function takeDue(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  options: TakeOptions,
): Promise<Claim[]> {
  const due = dueDispatches(dialect, tables, options);
  const { rows } = await tx.run<ClaimRow>(
    `select d.handler, d.fence + 1 as fence, d.attempt + 1 as attempt, d.failures, ${eventColumns}
      from (${due.sql}) d join ${tables.events} e on e.id = d.event_id order by d.event_seq, d.handler limit ?`,
    [...due.params, options.limit],
  );
  for (const group of chunks(rows, 100)) {
    const which = group.map(() => "(event_id = ? and handler = ?)").join(" or ");
    await tx.run(
      `update ${tables.dispatches} set state = 'leased', fence = fence + 1, attempt = attempt + 1,
        due_at = ${dialect.now} + ? where ${which}`,
      [Math.round(options.leaseMs), ...group.flatMap((row) => [row.id, row.handler])],
    );
  }
  return rows.map(claimOf);
}

/**
 * The same as one statement, which needs no transaction around it and has one text. Measured with one handler: of the
 * database's time for a dispatch, the statements of its claim took a third, most of it for planning an update anew.
 */
export async function takeDueAtOnce(
  writer: Session,
  dialect: Dialect,
  tables: Tables,
  options: TakeOptions,
): Promise<Claim[]> {
  const due = dueDispatches(dialect, tables, options);
  // Read once and whole before anything is joined to it: a query with locks in it is never drawn into another.
  const { rows } = await writer.run<ClaimRow>(
    `with due as (select event_id, handler from (${due.sql}) d order by event_seq, handler limit ?),
      taken as (update ${tables.dispatches} d
        set state = 'leased', fence = d.fence + 1, attempt = d.attempt + 1, due_at = ${dialect.now} + ?
        from due where d.event_id = due.event_id and d.handler = due.handler returning d.*)
      select d.handler, d.fence, d.attempt, d.failures, ${eventColumns}
      from taken d join ${tables.events} e on e.id = d.event_id order by d.event_seq, d.handler`,
    [...due.params, options.limit, Math.round(options.leaseMs)],
  );
  return rows.map(claimOf);
}

const eventColumns = "e.id, e.type, e.client_id, e.recorded_at, e.payload";

/** A branch per handler: each reads its own part of the index in event order, and stops at the limit. */
function dueDispatches(dialect: Dialect, tables: Tables, { handlers, limit }: TakeOptions): Fragment {
  const branches = dueBranches(dialect, tables, handlers);
  const selects = branches.map(
    ({ sql }, index) => `select * from (select event_id, handler, event_seq, fence, attempt, failures ${sql}
      order by event_seq limit ? ${dialect.forUpdateSkipLocked}) branch${index}`,
  );
  return { sql: selects.join(" union all "), params: branches.flatMap(({ params }) => [...params, limit]) };
}

function claimOf(row: ClaimRow): Claim {
  return {
    event: eventOf(row),
    handler: row.handler,
    fence: Number(row.fence),
    attempt: Number(row.attempt),
    failures: Number(row.failures),
  };
}

/** Ends a run, if its fence is still the newest. */
export async function settleDispatch(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  settlement: Settlement,
): Promise<boolean> {
  const { sql, params } = settling(dialect, tables, settlement);
  if (settlement.isLast && tx.commitsBehind) {
    const { eventId, handler } = settlement;
    const orElse = () => new TillkitError("lease_lost", `The lease of "${handler}" on ${eventId} was lost.`);
    tx.commitBehind!({ sql, params, orElse });
    return true;
  }
  return (await tx.run(sql, params)).affected > 0;
}

function settling(dialect: Dialect, tables: Tables, settlement: Settlement): Fragment {
  const { sql, params } = assignments(dialect, settlement);
  return {
    sql: `update ${tables.dispatches} set ${sql}, settled_at = ${dialect.now} where event_id = ? and handler = ? and fence = ? and state = 'leased'`,
    params: [...params, settlement.eventId, settlement.handler, settlement.fence],
  };
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
