import { type EventType } from "../../../model/event-map.js";
import {
  type CountsOptions,
  type DeadPage,
  type DispatchRecord,
  type HistoryPage,
  type PastEnd,
  type RevivedPage,
  type StoreCounts,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../../contract.js";
import { allOf, pageOf, placeholders } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { aboutClient } from "./about-client.js";
import { maxCounted, paymentNeeds } from "../../../model/attention.js";
import { needs, needsIn } from "../../rules/needs.js";
import { revivedBy } from "../../rules/dispatches.js";
import { eventFromRow, type EventRow } from "./events.js";
import { isUnexpanded, isWanted } from "./expand-events.js";
import { type Database } from "./names.js";
import { resolutionsOf } from "./resolutions.js";
import { webhookColumns, webhookFromRow, type WebhookRow } from "./webhooks.js";

/** Reads one page of the history of a clientId. */
export async function historyOf(
  reader: Session,
  db: Database,
  clientId: string,
  page: HistoryPage = {},
): Promise<StoredHistory> {
  const { limit = 1000, before: { webhook, event } = {} } = page;
  const { tables: t } = db;
  const ofWebhooks = allOf([
    aboutClient(db, "webhooks", clientId),
    {
      sql: "received_at <= ? and (received_at < ? or receipt_id < ?)",
      params: [webhook?.receivedAt, webhook?.receivedAt, webhook?.receiptId],
    },
  ]);
  const ofEvents = allOf([
    aboutClient(db, "events", clientId),
    // If this event was pruned in the meantime, the page has no events.
    { sql: `seq < coalesce((select seq from ${t.events} where id = ?), 0)`, params: [event?.id] },
  ]);
  const withoutBody = webhookColumns.filter((column) => column !== "raw_body").join(", ");
  const webhooks = await reader.run<Omit<WebhookRow, "raw_body"> & { copies: unknown }>(
    `select ${withoutBody}, copies from ${t.webhooks} where ${ofWebhooks.sql} order by received_at desc, receipt_id desc limit ?`,
    [...ofWebhooks.params, limit],
  );
  const events = await reader.run<EventRow & { seq: unknown }>(
    `select id, type, client_id, recorded_at, payload, seq from ${t.events} where ${ofEvents.sql} order by seq desc limit ?`,
    [...ofEvents.params, limit],
  );
  // The next claim makes the dispatches of new events. One statement reads present and future dispatches, so
  // that none is missed.
  const dispatches = await reader.run<DispatchRow & { seq: unknown }>(
    `select ${dispatchColumns}, e.seq from ${t.events} e join ${t.dispatches} d on d.event_id = e.id
      where ${ofEvents.sql} and seq >= ?
    union all select id, type, client_id, name, 'pending', 0, 0, null, null, null, null, null, seq
      from (select distinct e.id, e.type, e.client_id, e.seq, h.name from ${t.events} e join ${t.handlers} h
        on ${isWanted(db.dialect)} where ${ofEvents.sql} and seq >= ? and ${isUnexpanded(db)}) fresh
    order by seq, handler`,
    [0, 1].flatMap(() => [...ofEvents.params, events.rows.at(-1)?.seq ?? 0]),
  );
  return {
    webhooks: webhooks.rows.toReversed().map(({ copies, ...row }) => {
      const { rawBody: _, ...shown } = webhookFromRow({ ...row, raw_body: new Uint8Array() });
      return { ...shown, copies: Number(copies) };
    }),
    events: events.rows.toReversed().map(eventFromRow),
    dispatches: events.rows.length === 0 ? [] : dispatches.rows.map(dispatchFromRow),
    resolutions: await resolutionsOf(reader, db, clientId, page),
  };
}

/** Reads one page of the stored webhooks. */
export async function webhooksPage(
  reader: Session,
  db: Database,
  { clientId, clientIds, receiptId, outcome, need, from, to, after, limit }: WebhookPage,
): Promise<WebhookRecord[]> {
  const conditions = [
    ...(clientId === undefined ? [] : [aboutClient(db, "webhooks", clientId)]),
    // The index by clientId contains every webhook that a person has to see.
    ...(clientIds === undefined
      ? []
      : [
          db.dialect.among("client_id", clientIds),
          ...(db.dialect.listsFewByClient ? [{ sql: "unlisted is null", params: [] }] : []),
        ]),
    { sql: "receipt_id = ?", params: [receiptId] },
    { sql: "outcome = ?", params: [outcome] },
    // In the plain form, SQLite would use the index by need, and read every webhook with that need.
    { sql: clientIds ? "coalesce(attention, '') = ?" : "attention = ?", params: [need] },
    { sql: "received_at >= ?", params: [from] },
    { sql: "received_at < ?", params: [to] },
    {
      sql: "received_at >= ? and (received_at > ? or receipt_id > ?)",
      params: [after?.receivedAt, after?.receivedAt, after?.receiptId],
    },
  ];
  const isNamed = [clientId, receiptId, need].some((one) => one !== undefined);
  const readsByTime = db.dialect.sparesIndexes && !isNamed;
  const byNeed = need !== undefined && receiptId === undefined;
  const { webhooks } = db.tables;
  const index = clientIds ? "client" : "attention";
  const table = byNeed ? `${webhooks} ${db.dialect.forceIndex(`${webhooks}_${index}`)}` : webhooks;
  const indexes = readsByTime ? ["kept_since is not null", "kept_since is null"] : ["1 = 1"];
  const queries = indexes.map((index) => {
    const where = allOf([{ sql: index, params: [] }, ...conditions]);
    return {
      ...where,
      sql: `select ${webhookColumns.join(", ")}, copies from ${table} where ${where.sql}`,
    };
  });
  const { sql, params } = pageOf(db.dialect, queries, "received_at, receipt_id", limit);
  const { rows } = await reader.run<WebhookRow>(sql, params);
  return rows.map(webhookFromRow);
}

/** Reads dead dispatches. With `revive`, makes them pending. Keeps the fences against old runs. */
export async function deadDispatches(
  tx: Session,
  { dialect, tables: t }: Database,
  { eventId, handler, type, error, since, run, after, revive, limit }: DeadPage,
): Promise<DispatchRecord[]> {
  const seqOf = `coalesce((select seq from ${t.events} where id = ?), 0)`;
  // Escapes the characters that have a meaning in a pattern.
  const patternOf = (text: string): string => `%${text.replaceAll(/[!%_]/g, "!$&")}%`;
  // `lower` of SQLite, and of PostgreSQL with the locale C, changes only ASCII letters.
  const lowered = error && [error.toLowerCase(), error.replaceAll(/[A-Z]/g, (one) => one.toLowerCase())];
  const where = allOf([
    { sql: "d.dead = 1", params: [] },
    { sql: "d.event_id = ?", params: [eventId] },
    { sql: "d.handler = ?", params: [handler] },
    { sql: "d.event_type = ?", params: [type] },
    {
      sql: "(lower(d.error) like ? escape '!' or lower(d.error) like ? escape '!')",
      params: lowered ? lowered.map(patternOf) : [undefined],
    },
    { sql: "d.settled_at >= ?", params: [since === undefined ? undefined : Date.parse(since)] },
    { sql: "(d.retry_run is null or d.retry_run <> ?)", params: [run] },
    {
      sql: `d.event_seq >= ${seqOf} and (d.event_seq > ${seqOf} or d.handler > ?)`,
      params: [after?.eventId, after?.eventId, after?.handler],
    },
  ]);
  const { rows } = await tx.run<DispatchRow>(
    `select ${dispatchColumns} from ${t.dispatches} d join ${t.events} e on e.id = d.event_id
      where ${where.sql} order by d.event_seq, d.handler limit ? ${revive ? dialect.forUpdate : ""}`,
    [...where.params, limit],
  );
  const dead = rows.map(dispatchFromRow);
  if (!revive) return dead;
  for (const one of dead)
    await tx.run(
      `update ${t.dispatches} set state = 'pending', dead = null, open_handler = handler, due_at = 0,
        attempt = 0, failures = 0, error = null, settled_at = null, retry_run = ?, past = ?
        where event_id = ? and handler = ?`,
      [run ?? null, JSON.stringify(revivedBy(run, one).past), one.eventId, one.handler],
    );
  return dead;
}

/** Reads one page of the dispatches that were revived under one id. */
export async function dispatchesOfRun(
  reader: Session,
  { tables: t }: Database,
  { run, after, limit }: RevivedPage,
): Promise<DispatchRecord[]> {
  const where = allOf([
    { sql: "d.retry_run = ?", params: [run] },
    {
      sql: "d.event_id >= ? and (d.event_id > ? or d.handler > ?)",
      params: [after?.eventId, after?.eventId, after?.handler],
    },
  ]);
  const { rows } = await reader.run<DispatchRow>(
    `select ${dispatchColumns} from ${t.dispatches} d join ${t.events} e on e.id = d.event_id
      where ${where.sql} order by d.event_id, d.handler limit ?`,
    [...where.params, limit],
  );
  return rows.map(dispatchFromRow);
}

/** Counts the records that wait for a person or a handler. Each part reads only the index of waiting rows. */
export async function countWaiting(
  session: Session,
  db: Database,
  { except = [], before }: CountsOptions = {},
): Promise<StoreCounts> {
  const { tables: t } = db;
  const isCounted = except.length === 0 ? "1 = 1" : `h.name not in (${placeholders(except.length)})`;
  // Without a handler, all events would be read. On SQLite, `isUnexpanded` already prevents that.
  const ifHandlers = db.dialect.commitsInOrder ? "" : `and exists (select 1 from ${t.handlers})`;
  const { rows } = await session.run<{ dead: unknown; parked: unknown; undone: string | null }>(
    `select (select count(*) from ${t.dispatches} where dead = 1) as dead,
      (select count(*) from ${t.webhooks} where attention in ('unmatched', 'unconfirmed')) as parked,
      (select recorded_at from ${t.events} where seq = (select min(oldest.seq) from (
        select (select min(d.event_seq) from ${t.dispatches} d where d.open_handler = h.name) as seq
          from ${t.handlers} h where ${isCounted}
        union all
        select wanted.seq from (select e.seq from ${t.events} e where ${isUnexpanded(db)} ${ifHandlers}
          and e.seq > coalesce((select min(after_seq) from ${t.handlers}), 0)
          and exists (select 1 from ${t.handlers} h where ${isWanted(db.dialect)} and ${isCounted})
          order by e.seq limit 1) wanted
      ) oldest)) as undone`,
    [...except, ...except],
  );
  const { dead, parked, undone } = rows[0]!;
  return {
    dead: Number(dead),
    parked: Number(parked),
    ...(undone !== null && { oldestUndoneAt: undone }),
    ...(await countAttention(session, db, before)),
    ...(await readWaiting(session, db)),
  };
}

/** Counts the records that a person has to see, up to `maxCounted` for each need. */
async function countAttention(
  session: Session,
  { tables: t }: Database,
  before: CountsOptions["before"] = {},
): Promise<Pick<StoreCounts, "needs">> {
  const counting = needs.map((need) => {
    const [table, time] = (paymentNeeds as readonly string[]).includes(need)
      ? [t.payments, "created_at"]
      : [t.webhooks, "received_at"];
    const end = before[need];
    const of = `select 1 from ${table} where attention = '${need}' ${end === undefined ? "" : `and ${time} < ?`}`;
    return {
      sql: `select '${need}' as need, count(*) as count from (${of} limit ${maxCounted}) ${need}`,
      params: end === undefined ? [] : [end],
    };
  });
  const { rows } = await session.run<{ need: (typeof needs)[number]; count: unknown }>(
    counting.map(({ sql }) => sql).join(" union all "),
    counting.flatMap(({ params }) => params),
  );
  return needsIn(rows.map(({ need, count }) => [need, Number(count)]));
}

/** Reads the handlers whose oldest open dispatch is due, and the database's clock. */
async function readWaiting(session: Session, { dialect, tables: t }: Database) {
  const { rows } = await session.run<{
    name: string;
    now: unknown;
    due: unknown;
    event: string;
    recorded: string | null;
  }>(
    `select h.name, ${dialect.now} as now, d.due_at as due, d.event_type as event, e.recorded_at as recorded
      from (select name, (select min(event_seq) from ${t.dispatches} where open_handler = name) as seq
        from (select distinct name from ${t.handlers}) names) h
      left join ${t.dispatches} d on d.open_handler = h.name and d.event_seq = h.seq
      left join ${t.events} e on e.seq = h.seq`,
    [],
  );
  const waiting = rows.flatMap(({ name: handler, now, due, event, recorded }) => {
    if (recorded === null || due === null || Number(due) > Number(now)) return [];
    // A new dispatch has been due since its event was recorded.
    const since = Number(due) === 0 ? recorded : new Date(Number(due)).toISOString();
    return [{ handler, event: event as EventType, since }];
  });
  return { waiting, ...(rows[0] && { clock: new Date(Number(rows[0].now)).toISOString() }) };
}

type DispatchRow = Record<"event_id" | "type" | "handler" | "state", string> &
  Record<"client_id" | "error" | "past" | "retry_run", string | null> &
  Record<"attempt" | "failures", number | string> &
  Record<"settled_at" | "due_at", number | string | null>;

const dispatchColumns =
  "d.event_id, e.type, e.client_id, d.handler, d.state, d.attempt, d.failures, d.error, d.settled_at, d.past, d.retry_run, d.due_at";

function dispatchFromRow(row: DispatchRow): DispatchRecord {
  return {
    eventId: row.event_id,
    type: row.type as EventType,
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    handler: row.handler,
    state: row.state as DispatchRecord["state"],
    attempt: Number(row.attempt),
    failures: Number(row.failures),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.past !== null && { past: JSON.parse(row.past) as PastEnd[] }),
    ...(row.retry_run !== null && { run: row.retry_run }),
    ...(row.settled_at === null ? {} : { settledAt: new Date(Number(row.settled_at)).toISOString() }),
    // 0 means due immediately, independent of any clock.
    ...(row.state === "pending" && Number(row.due_at) > 0
      ? { dueAt: new Date(Number(row.due_at)).toISOString() }
      : {}),
  };
}
