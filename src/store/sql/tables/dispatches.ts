import { TillkitError } from "../../../errors/index.js";
import {
  type Claim,
  type ClaimOptions,
  type RetireOptions,
  type RunKey,
  type Settlement,
} from "../../contract.js";
import { type Dialect, type Fragment, placeholders } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { retryConflicts } from "../transaction/retry-conflicts.js";
import { type Transaction } from "../transaction/transaction.js";
import { eventFromRow, type EventRow } from "./events.js";
import { isUnexpanded } from "./expand-events.js";
import { type Database } from "./names.js";
import { chunks } from "./write-rows.js";

type ClaimRow = EventRow & { handler: string } & Record<"fence" | "attempt" | "failures", number | string>;

/** Returns whether a claim would find something. Reads committed rows, so that an idle poll takes no lock. */
export async function anythingToClaim(
  reader: Session,
  db: Database,
  options: Omit<ClaimOptions, "limit" | "leaseMs">,
): Promise<{ unexpanded: boolean; due: boolean }> {
  const { tables } = db;
  const branches = dueBranches(db, options);
  const due = branches.map(({ sql }) => `exists (select 1 ${sql})`).join(" or ");
  const { rows } = await reader.run<{ unexpanded: unknown; due: unknown }>(
    `select case when exists (select 1 from ${tables.events} e where ${isUnexpanded(db)}) then 1 else 0 end as unexpanded,
      case when ${due} then 1 else 0 end as due`,
    branches.flatMap(({ params }) => params),
  );
  return { unexpanded: Number(rows[0]!.unexpanded) === 1, due: Number(rows[0]!.due) === 1 };
}

/** The steps of a claim. */
export interface ClaimSteps {
  /** Leases at most `limit` due dispatches of the named handlers, oldest event first. */
  take(limit: number): Promise<Claim[]>;
  /** Gives events their dispatches. Returns the number of events. */
  expand(): Promise<number>;
  /** Whether each step commits separately, so that leased dispatches stay leased if a later step fails. */
  readonly commitApart: boolean;
}

/** Takes due dispatches first. Expands new events, which are younger, only if the limit is not reached. */
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

/**
 * Leases due dispatches inside a transaction. One statement reads the dispatches, and other statements write
 * them.
 */
export async function takeDue(tx: Transaction, db: Database, options: ClaimOptions): Promise<Claim[]> {
  const { dialect, tables } = db;
  const due = dueDispatches(db, options);
  const waits = waitFor(dialect, options.leaseMs);
  const { rows } = await tx.run<ClaimRow>(
    `select d.handler, d.fence + 1 as fence, d.attempt + 1 as attempt, d.failures, ${eventColumns}
      from (${due.sql}) d join ${tables.events} e on e.id = d.event_id order by d.event_seq, d.handler limit ?`,
    [...due.params, options.limit],
  );
  for (const which of dispatchesAmong(rows.map((row) => [row.id, row.handler])))
    await tx.run(
      `update ${tables.dispatches} set state = 'leased', fence = fence + 1, attempt = attempt + 1,
        ${waits.sql} where ${which.sql}`,
      [...waits.params, ...which.params],
    );
  return rows.map(claimOf);
}

/** Returns conditions that match the dispatches with these keys, at most 100 dispatches each. */
export function dispatchesAmong(keys: readonly [eventId: string, handler: string][]): Fragment[] {
  return chunks(keys, 100).map((some) => ({
    sql: some.map(() => "(event_id = ? and handler = ?)").join(" or "),
    params: some.flat(),
  }));
}

/** Leases due dispatches with one statement, which needs no transaction around it and is planned once. */
export async function takeDueInOneStatement(
  writer: Session,
  db: Database,
  options: ClaimOptions,
): Promise<Claim[]> {
  const { dialect, tables } = db;
  const due = dueDispatches(db, options);
  const waits = waitFor(dialect, options.leaseMs);
  // PostgreSQL runs a query with locks once and separately, and never merges it with another query. So the
  // limit holds.
  const sql = `with due as (select event_id, handler from (${due.sql}) d order by event_seq, handler limit ?),
      taken as (update ${tables.dispatches} d
        set state = 'leased', fence = d.fence + 1, attempt = d.attempt + 1, ${waits.sql}
        from due where d.event_id = due.event_id and d.handler = due.handler returning d.*)
      select d.handler, d.fence, d.attempt, d.failures, ${eventColumns}
      from taken d join ${tables.events} e on e.id = d.event_id order by d.event_seq, d.handler`;
  const params = [...due.params, options.limit, ...waits.params];
  const { rows } = await retryConflicts(dialect, () => writer.run<ClaimRow>(sql, params));
  return rows.map(claimOf);
}

const eventColumns = "e.id, e.type, e.client_id, e.recorded_at, e.payload";

/**
 * Returns a query with a branch for each handler. Each branch reads one part of the index in the order of
 * events, and stops at the limit.
 */
function dueDispatches(db: Database, options: ClaimOptions): Fragment {
  const { limit } = options;
  const branches = dueBranches(db, options);
  const selects = branches.map(
    ({ sql }, index) => `select * from (select event_id, handler, event_seq, fence, attempt, failures ${sql}
      order by event_seq limit ? ${db.dialect.forUpdateSkipLocked}) branch${index}`,
  );
  return { sql: selects.join(" union all "), params: branches.flatMap(({ params }) => [...params, limit]) };
}

/** A dispatch of an earlier version has no `waits_from`. If it waits longer than this, it counts as due. */
const maxUnmarkedMs = 50 * 24 * 60 * 60 * 1000;

/**
 * Returns SQL assignments that let a dispatch wait for `ms`: `due_at` is `ms` after now, and `waits_from` is
 * `ms` before now. If `waits_from` is in the future, the clock was put back after the write, and the dispatch
 * is due.
 */
function waitFor({ now }: Dialect, ms: number): Fragment {
  const rounded = Math.round(ms);
  return { sql: `due_at = ${now} + ?, waits_from = ${now} - ?`, params: [rounded, rounded] };
}

/**
 * Returns one SQL fragment for each handler name. The fragment selects the handler's due dispatches of the
 * given event types.
 */
function dueBranches(
  { dialect, tables }: Database,
  { handlers }: Pick<ClaimOptions, "handlers">,
): Fragment[] {
  // A dispatch that an earlier version wrote has no `waits_from`. See `maxUnmarkedMs`.
  const isDue = `(due_at <= ${dialect.now}
    or coalesce(waits_from, due_at - ${maxUnmarkedMs}) between ${dialect.now} + 1 and due_at)`;
  const types = new Map<string, Set<string>>();
  for (const { event, name } of handlers) types.set(name, (types.get(name) ?? new Set()).add(event));
  return [...types].map(([name, wanted]) => {
    const only = wanted.has("*") ? "" : `and event_type in (${placeholders(wanted.size)})`;
    return {
      sql: `from ${tables.dispatches} where open_handler = ? ${only} and ${isDue}`,
      params: [name, ...(only === "" ? [] : wanted)],
    };
  });
}

function claimOf(row: ClaimRow): Claim {
  return {
    event: eventFromRow(row),
    handler: row.handler,
    fence: Number(row.fence),
    attempt: Number(row.attempt),
    failures: Number(row.failures),
  };
}

/**
 * Ends a run. Resolves `false`, and changes nothing, if its lease was lost. With `isLast`, the commit may
 * check the lease instead, and reject with `lease_lost`.
 */
export async function settleDispatch(
  tx: Transaction,
  { dialect, tables }: Database,
  settlement: Settlement,
): Promise<boolean> {
  const { eventId, handler, fence } = settlement;
  const set = assignments(dialect, settlement);
  const sql = `update ${tables.dispatches} set ${set.sql}, settled_at = ${dialect.now}
    where event_id = ? and handler = ? and fence = ? and state = 'leased'`;
  const params = [...set.params, eventId, handler, fence];
  const orElse = () => new TillkitError("lease_lost", `The lease of "${handler}" on ${eventId} was lost.`);
  if (settlement.isLast && tx.keepForCommit({ sql, params, orElse })) return true;
  return (await tx.run(sql, params)).affected > 0;
}

/**
 * Marks runs as done with one statement. If a lease was lost, this call or the commit rejects with
 * `lease_lost`.
 */
export async function settleDone(tx: Transaction, db: Database, runs: readonly RunKey[]): Promise<void> {
  const { dialect, tables } = db;
  const [first] = runs;
  if (!first) return;
  const lost = new TillkitError("lease_lost", `A lease of "${first.handler}" was lost.`);
  if (runs.length === 1) {
    if (!(await settleDispatch(tx, db, { ...first, state: "done", isLast: true }))) throw lost;
    return;
  }
  const groups = new Map<string, { handler: string; fence: number; ids: string[] }>();
  for (const { eventId, handler, fence } of runs) {
    const key = `${handler} ${fence}`;
    const group = groups.get(key) ?? { handler, fence, ids: [] };
    group.ids.push(eventId);
    groups.set(key, group);
  }
  const which = [...groups.values()].map(({ handler, fence, ids }) => {
    const { sql, params } = dialect.among("event_id", ids);
    return { sql: `(${sql} and handler = ? and fence = ?)`, params: [...params, handler, fence] };
  });
  const set = assignments(dialect, { ...first, state: "done" });
  const { affected } = await tx.run(
    `update ${tables.dispatches} set ${set.sql}, settled_at = ${dialect.now}
      where state = 'leased' and (${which.map(({ sql }) => sql).join(" or ")})`,
    which.flatMap(({ params }) => params),
  );
  if (affected !== runs.length) throw lost;
}

function assignments(dialect: Dialect, { state, retryInMs = 0, error }: Settlement): Fragment {
  const waits = waitFor(dialect, retryInMs);
  const over = "open_handler = null, due_at = null";
  switch (state) {
    case "done":
      return { sql: `state = 'done', ${over}`, params: [] };
    case "dead":
      return { sql: `state = 'dead', dead = 1, ${over}, error = ?`, params: [error ?? null] };
    case "released": {
      const { sql, params } = retryInMs ? waits : { sql: "due_at = 0", params: [] };
      return { sql: `state = 'pending', attempt = attempt - 1, ${sql}`, params };
    }
    case "failed":
      return {
        sql: `state = 'pending', failures = failures + 1, ${waits.sql}, error = ?`,
        params: [...waits.params, error ?? null],
      };
  }
}

/** Extends a lease. Resolves `false` if it was lost. */
export async function renewLease(
  writer: Session,
  { dialect, tables }: Database,
  claim: { eventId: string; handler: string; fence: number },
  leaseMs: number,
): Promise<boolean> {
  const waits = waitFor(dialect, leaseMs);
  const { affected } = await writer.run(
    `update ${tables.dispatches} set ${waits.sql}
      where event_id = ? and handler = ? and fence = ? and state = 'leased'`,
    [...waits.params, claim.eventId, claim.handler, claim.fence],
  );
  return affected > 0;
}

/**
 * Retires at most `limit` undone dispatches of a handler whose registrations do not want the events of these
 * dispatches. Returns the number of retired dispatches.
 */
export async function retireDispatches(
  tx: Transaction,
  { dialect, tables: t }: Database,
  { handler, limit }: RetireOptions,
): Promise<number> {
  const unwanted = `not exists (select 1 from ${t.handlers} h
    where h.name = handler and (h.event = '*' or h.event = event_type))`;
  let retired = 0;
  for (const unfinished of ["open_handler = ?", "dead = 1 and handler = ?"]) {
    // The lock waits for a run that is about to commit. The dispatch of this run is then no longer found.
    const { rows } = await tx.run<{ event_id: string }>(
      `select event_id from ${t.dispatches} where ${unfinished} and ${unwanted} order by event_seq limit ? ${dialect.forUpdate}`,
      [handler, limit - retired],
    );
    if (rows.length === 0) continue;
    const ids = rows.map((row) => row.event_id);
    const which = dialect.among("event_id", ids);
    await tx.run(
      `update ${t.dispatches} set state = 'retired', dead = null, open_handler = null, due_at = null,
        settled_at = ${dialect.now} where ${which.sql} and handler = ?`,
      [...which.params, handler],
    );
    retired += rows.length;
  }
  return retired;
}
