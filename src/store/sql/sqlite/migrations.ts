import { type Schema } from "../schema/migrate.js";
import { needsStep, withheldStep } from "../schema/shared-steps.js";
import { type Tables } from "../tables/names.js";

/** Returns the kit's tables in SQLite. */
export function sqliteSchema(tables: Tables): Schema {
  return {
    tables,
    // Only append steps, because the stored version is the number of steps.
    steps: [
      createTables(tables),
      addLookupsAndLists(tables),
      useFewerIndexes(tables),
      expandAtTheClaim(tables),
      useFewerPages(tables),
      listByState(tables),
      keepReports(tables),
      distrustClocks(tables),
      withheldStep(tables),
      numberRegistrations(tables),
      identifyTables(tables),
      keepNotes(tables),
      keepEnds(tables),
      keepRefunds(tables),
      needsStep(tables),
      keepActions(tables),
    ],
    findTable: "select 1 from sqlite_master where type = 'table' and name = ?",
    createMeta: `create table if not exists ${tables.meta} (name text not null primary key, value text not null)`,
    setVersion: `insert or replace into ${tables.meta} (name, value) values ('version', ?)`,
  };
}

const createTables = (t: Tables): string[] => [
  `create table ${t.payments} (
    client_id text not null primary key, reference text not null,
    total_value text not null, total_currency text not null,
    state text not null, status text, open_reference text, service_id text,
    checkout_url text, return_key_hash text, locale text, metadata text,
    created_at text not null, updated_at text not null, completed_at text,
    success_returned_at text, cancel_returned_at text,
    replaced_by text, failure text, overdue_at text, awaited_since text
  ) without rowid`,
  `create index ${t.payments}_reference on ${t.payments} (reference)`,
  `create unique index ${t.payments}_open on ${t.payments} (open_reference) where open_reference is not null`,
  `create unique index ${t.payments}_service on ${t.payments} (service_id) where service_id is not null`,
  `create index ${t.payments}_awaited on ${t.payments} (awaited_since, client_id) where awaited_since is not null`,
  `create table ${t.webhooks} (
    seq integer primary key autoincrement,
    receipt_id text not null unique, event_key text not null unique,
    outcome text not null, reason text, client_id text, status text,
    raw_body blob not null, covers text not null, received_at text not null,
    copies integer not null default 0, parked integer, kept_since text
  )`,
  `create index ${t.webhooks}_parked on ${t.webhooks} (parked) where parked is not null`,
  `create index ${t.webhooks}_kept on ${t.webhooks} (kept_since) where kept_since is not null`,
  `create index ${t.webhooks}_client on ${t.webhooks} (client_id)`,
  `create table ${t.events} (
    seq integer primary key autoincrement,
    id text not null unique, type text not null, client_id text,
    recorded_at text not null, payload text not null, unexpanded integer
  )`,
  `create index ${t.events}_recorded on ${t.events} (recorded_at)`,
  `create index ${t.events}_unexpanded on ${t.events} (seq) where unexpanded = 1`,
  `create table ${t.handlers} (
    event text not null, name text not null, primary key (event, name)
  ) without rowid`,
  `create table ${t.dispatches} (
    event_id text not null, handler text not null,
    event_type text not null, event_seq integer not null,
    state text not null, open_handler text, due_at integer,
    attempt integer not null, failures integer not null, fence integer not null,
    error text, dead integer, primary key (event_id, handler)
  ) without rowid`,
  `create index ${t.dispatches}_dead on ${t.dispatches} (dead) where dead is not null`,
  `create index ${t.dispatches}_open on ${t.dispatches} (open_handler, event_seq, due_at, event_type)
    where open_handler is not null`,
  `insert into ${t.meta} (name, value) values ('handlers', '')`,
];

const addLookupsAndLists = (t: Tables): string[] => [
  `alter table ${t.payments} add column next_lookup_at text`,
  `alter table ${t.payments} add column lookups integer`,
  `create index ${t.payments}_lookup on ${t.payments} (next_lookup_at, client_id) where next_lookup_at is not null`,
  `create index ${t.payments}_created on ${t.payments} (created_at, client_id)`,
  `create index ${t.payments}_state on ${t.payments} (state, created_at, client_id)`,
  `update ${t.payments} set next_lookup_at = created_at where state in ('creating', 'pending', 'uncertain')`,
  `alter table ${t.webhooks} add column kind text not null default 'webhook'`,
  `alter table ${t.webhooks} add column decided_at text`,
  // Webhooks that are parked already get no `stray_since`, because they were raised when they arrived.
  `alter table ${t.webhooks} add column stray_since text`,
  `create index ${t.webhooks}_stray on ${t.webhooks} (stray_since, receipt_id) where stray_since is not null`,
  `create index ${t.webhooks}_received on ${t.webhooks} (received_at, receipt_id)`,
  `create index ${t.events}_client on ${t.events} (client_id) where client_id is not null`,
  `alter table ${t.dispatches} add column settled_at integer`,
  `create table ${t.resolutions} (
    id text not null primary key, client_id text not null, action text not null,
    receipt_id text, reason text not null,
    resolved_by text not null, resolved_at text not null
  ) without rowid`,
  `create index ${t.resolutions}_client on ${t.resolutions} (client_id)`,
];

/**
 * Reduces the pages that a webhook writes: one for each index of its rows, and one for the table of
 * sequences. Each row is now in one of several partial indexes, which lists merge. A completed payment is in
 * no index of its state.
 */
const useFewerIndexes = (t: Tables): string[] => [
  `drop index ${t.payments}_state`,
  `drop index ${t.payments}_awaited`,
  `create index ${t.payments}_awaited on ${t.payments} (created_at, client_id) where awaited_since is not null`,
  `create index ${t.payments}_state on ${t.payments} (state, created_at, client_id)
    where awaited_since is null and state <> 'completed'`,
  ...rebuilt(
    t.webhooks,
    `seq integer primary key,
    receipt_id text not null unique, event_key text not null unique,
    outcome text not null, reason text, client_id text, status text,
    covers text not null, received_at text not null, copies integer not null default 0,
    parked integer, kept_since text, kind text not null default 'webhook',
    decided_at text, stray_since text, raw_body blob not null`,
  ),
  `create index ${t.webhooks}_parked on ${t.webhooks} (parked) where parked is not null`,
  `create index ${t.webhooks}_stray on ${t.webhooks} (stray_since, receipt_id) where stray_since is not null`,
  `create index ${t.webhooks}_client on ${t.webhooks} (client_id)`,
  `create index ${t.webhooks}_kept on ${t.webhooks} (received_at, receipt_id) where kept_since is not null`,
  `create index ${t.webhooks}_pruned on ${t.webhooks} (received_at, receipt_id) where kept_since is null`,
  ...rebuilt(
    t.events,
    `seq integer primary key,
    id text not null unique, type text not null, client_id text,
    recorded_at text not null, unexpanded integer, payload text not null`,
  ),
  `create index ${t.events}_unexpanded on ${t.events} (seq) where unexpanded = 1`,
  `create index ${t.events}_client on ${t.events} (client_id) where client_id is not null`,
];

/**
 * Makes the dispatches of an event at a claim. Making them when the event is recorded wrote two more pages
 * for each webhook. Events commit in the order of their numbers, so it is enough to store the last number
 * with dispatches. The column `unexpanded` stays, because SQLite would rewrite every event to remove it.
 */
const expandAtTheClaim = (t: Tables): string[] => [
  `insert into ${t.dispatches}
      (event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt, failures, fence)
    select distinct e.id, h.name, e.type, e.seq, 'pending', h.name, cast(unixepoch('subsec') * 1000 as integer), 0, 0, 0
    from ${t.events} e join ${t.handlers} h on h.event = e.type or h.event = '*' where e.unexpanded = 1
    on conflict do nothing`,
  `drop index ${t.events}_unexpanded`,
  `insert into ${t.meta} (name, value) select 'expanded', coalesce(max(seq), 0) from ${t.events}`,
  // After the newest event is deleted, the next event gets the same number, which must not count as expanded.
  `create trigger ${t.events}_deleted after delete on ${t.events}
    when old.seq > coalesce((select max(seq) from ${t.events}), 0)
    begin
      update ${t.meta} set value = coalesce((select max(seq) from ${t.events}), 0)
        where name = 'expanded' and cast(value as integer) > coalesce((select max(seq) from ${t.events}), 0);
    end`,
];

/**
 * Reduces the pages that a webhook writes. Keys by clientId or reference are scattered, so three such indexes
 * wrote one page each. Webhooks that can be found by their eventKey, and events with such a webhook's number,
 * are no longer in these indexes. The index of all references shows whether a reference is free.
 */
const useFewerPages = (t: Tables): string[] => [
  `alter table ${t.webhooks} add column unlisted integer`,
  `alter table ${t.events} add column unlisted integer`,
  `drop index ${t.webhooks}_client`,
  `create index ${t.webhooks}_client on ${t.webhooks} (client_id) where unlisted is null`,
  `drop index ${t.events}_client`,
  `create index ${t.events}_client on ${t.events} (client_id) where unlisted is null and client_id is not null`,
  `drop index ${t.payments}_open`,
  // Leaves an open payment out if its reference has one already. For updates, `expectFree` checks this. With
  // a trigger for updates, SQLite would copy every page until the update is done.
  `create trigger ${t.payments}_open before insert on ${t.payments}
    when new.open_reference is not null and exists (select 1 from ${t.payments}
      where reference = new.open_reference and open_reference is not null and client_id <> new.client_id)
    begin select raise(ignore); end`,
];

/**
 * Makes the state the first column of an index, so that a page of any state reads only payments of that
 * state. A process of the previous version that still runs finds overdue payments more slowly.
 */
const listByState = (t: Tables): string[] => [
  `create index ${t.payments}_listed on ${t.payments} (state, created_at, client_id)
    where awaited_since is not null or state = 'completed'`,
  `drop index ${t.payments}_awaited`,
];

/** Adds reports and evidence. There is no index by provider_id, which would cost each webhook a page. */
const keepReports = (t: Tables): string[] => [
  `alter table ${t.payments} add column reported text`,
  `alter table ${t.payments} add column provider_id text`,
  `alter table ${t.resolutions} add column evidence text`,
];

/**
 * Adds `waits_from`. If the clock shows an earlier time than `waits_from`, the clock was put back, and the
 * dispatch is due. Rows of earlier versions have no `waits_from`.
 */
const distrustClocks = (t: Tables): string[] => [
  `alter table ${t.dispatches} add column waits_from integer`,
  // With `waits_from` in the index, a claim reads no rows that still wait.
  `drop index ${t.dispatches}_open`,
  `create index ${t.dispatches}_open on ${t.dispatches} (open_handler, event_seq, due_at, event_type, waits_from)
    where open_handler is not null`,
];

/** Adds the identity of the tables, which every copy keeps. A spool stores the identity of its tables. */
const identifyTables = (t: Tables): string[] => [
  `insert into ${t.meta} (name, value) values ('identity', lower(hex(randomblob(16))))`,
];

/** Adds the table of notes, for example about what people decided about handlers. */
const keepNotes = (t: Tables): string[] => [
  `create table ${t.notes} (
    kind text not null, id text not null, version integer not null, value text not null,
    primary key (kind, id)
  ) without rowid`,
];

/** Adds the failures of a dispatch before its revivals, and the id of the last revival. */
const keepEnds = (t: Tables): string[] => [
  `alter table ${t.dispatches} add column past text`,
  `alter table ${t.dispatches} add column retry_run text`,
  `create index ${t.dispatches}_run on ${t.dispatches} (retry_run, event_id, handler) where retry_run is not null`,
];

/** Adds the received and the refunded amounts of payments. */
const keepRefunds = (t: Tables): string[] => [
  `alter table ${t.payments} add column received text`,
  `alter table ${t.payments} add column refunded text`,
  `alter table ${t.resolutions} add column refund text`,
];

/** Adds the state before and after a person's action. */
const keepActions = (t: Tables): string[] => [
  `alter table ${t.resolutions} add column before_text text`,
  `alter table ${t.resolutions} add column after_text text`,
];

/** Adds the number after which a handler's events begin: 0 for handlers of earlier versions. */
const numberRegistrations = (t: Tables): string[] => [
  `alter table ${t.handlers} add column after_seq integer not null default 0`,
  // After the newest event is deleted, the next event gets the same number, and handlers must get that event.
  `create trigger ${t.handlers}_renumbered after delete on ${t.events}
    when old.seq > coalesce((select max(seq) from ${t.events}), 0)
    begin
      update ${t.handlers} set after_seq = coalesce((select max(seq) from ${t.events}), 0)
        where after_seq > coalesce((select max(seq) from ${t.events}), 0);
    end`,
];

/** Returns statements that rebuild a table, for changes that `alter table` cannot make. Drops its indexes. */
function rebuilt(table: string, definitions: string): string[] {
  const columns = definitions.split(/,\s*/).map((definition) => definition.split(" ")[0]);
  const names = columns.join(", ");
  return [
    `create table ${table}_new (${definitions})`,
    `insert into ${table}_new (${names}) select ${names} from ${table} order by seq`,
    `drop table ${table}`,
    `alter table ${table}_new rename to ${table}`,
  ];
}
