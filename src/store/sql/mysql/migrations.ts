import { type Schema } from "../schema/migrate.js";
import { markedNeeds } from "../schema/shared-steps.js";
import { type Tables } from "../tables/names.js";

/** Returns the kit's tables in MySQL or MariaDB, with the collation of the server. */
export function mysqlSchema(tables: Tables, collation: string): Schema {
  const type = typesWith(collation);
  return {
    tables,
    // Only append steps. MySQL commits each statement separately, so each statement must be safe to run
    // again.
    steps: [
      createTables(tables, type),
      addLookupsAndLists(tables, type),
      keepReports(tables, type),
      distrustClocks(tables),
      keepWithheld(tables, type),
      numberRegistrations(tables),
      identifyTables(tables),
      keepNotes(tables, type),
      keepEnds(tables, type),
      keepRefunds(tables, type),
      keepNeeds(tables, type),
      keepActions(tables, type),
      numberGaps(tables),
    ],
    findTable: "select 1 from information_schema.tables where table_schema = database() and table_name = ?",
    createMeta: `create table if not exists ${tables.meta}
      (name varchar(64) primary key, value varchar(255) not null) engine = InnoDB`,
    setVersion: `replace into ${tables.meta} (name, value) values ('version', ?)`,
  };
}

type Types = ReturnType<typeof typesWith>;

function typesWith(collation: string) {
  const text = `character set utf8mb4 collate ${collation}`;
  return {
    text,
    time: "varchar(40) character set ascii collate ascii_bin",
    id: `varchar(191) ${text}`,
    engine: `engine = InnoDB row_format = dynamic default character set utf8mb4 collate ${collation}`,
  };
}

const createTables = (t: Tables, type: Types): string[] => [
  `create table if not exists ${t.payments} (
    client_id ${type.id} not null primary key, reference varchar(255) ${type.text} not null,
    total_value varchar(64) ${type.text} not null, total_currency varchar(16) ${type.text} not null,
    state varchar(32) ${type.text} not null, status mediumtext ${type.text},
    open_reference varchar(255) ${type.text}, service_id varchar(500) ${type.text},
    checkout_url mediumtext ${type.text}, return_key_hash varchar(255) ${type.text},
    locale varchar(255) ${type.text}, metadata mediumtext ${type.text},
    created_at ${type.time} not null, updated_at ${type.time} not null, completed_at ${type.time},
    success_returned_at ${type.time}, cancel_returned_at ${type.time},
    replaced_by ${type.id}, failure mediumtext ${type.text}, overdue_at ${type.time},
    awaited_since ${type.time},
    key ${t.payments}_reference (reference),
    unique key ${t.payments}_open (open_reference),
    unique key ${t.payments}_service (service_id),
    key ${t.payments}_awaited (awaited_since, client_id)
  ) ${type.engine}`,
  `create table if not exists ${t.webhooks} (
    seq bigint not null auto_increment primary key,
    receipt_id ${type.id} not null, event_key ${type.id} not null,
    outcome varchar(32) ${type.text} not null, reason mediumtext ${type.text},
    client_id mediumtext ${type.text}, status mediumtext ${type.text},
    raw_body longblob not null, covers varchar(500) character set ascii collate ascii_bin not null,
    received_at ${type.time} not null,
    copies bigint not null default 0, parked tinyint, kept_since ${type.time},
    key ${t.webhooks}_parked (parked),
    key ${t.webhooks}_kept (kept_since),
    unique key ${t.webhooks}_receipt (receipt_id),
    unique key ${t.webhooks}_event (event_key),
    key ${t.webhooks}_client (client_id(191))
  ) ${type.engine}`,
  `create table if not exists ${t.events} (
    seq bigint not null auto_increment primary key,
    id ${type.id} not null, type varchar(64) ${type.text} not null, client_id mediumtext ${type.text},
    recorded_at ${type.time} not null, payload longtext ${type.text} not null, unexpanded tinyint,
    key ${t.events}_recorded (recorded_at),
    unique key ${t.events}_id (id),
    key ${t.events}_unexpanded (unexpanded, seq)
  ) ${type.engine}`,
  `create table if not exists ${t.handlers} (
    event varchar(64) ${type.text} not null, name ${type.id} not null, primary key (event, name)
  ) ${type.engine}`,
  `create table if not exists ${t.dispatches} (
    event_id ${type.id} not null, handler ${type.id} not null,
    event_type varchar(64) ${type.text} not null, event_seq bigint not null,
    state varchar(32) ${type.text} not null, open_handler ${type.id}, due_at bigint,
    attempt int not null, failures int not null, fence int not null,
    error mediumtext ${type.text}, dead tinyint,
    key ${t.dispatches}_dead (dead),
    primary key (event_id, handler),
    key ${t.dispatches}_open (open_handler, event_seq, due_at)
  ) ${type.engine}`,
  `insert ignore into ${t.meta} (name, value) values ('handlers', '')`,
];

/**
 * Adds the columns of lookups and lists, with one statement for each table. MySQL applies a statement as a
 * whole or not at all, so the error "exists already" means that the statement was applied.
 */
const addLookupsAndLists = (t: Tables, type: Types): string[] => [
  `alter table ${t.payments} add column next_lookup_at ${type.time}, add column lookups int,
    add key ${t.payments}_lookup (next_lookup_at, client_id),
    add key ${t.payments}_created (created_at, client_id),
    add key ${t.payments}_state (state, created_at, client_id)`,
  `update ${t.payments} set next_lookup_at = created_at
    where state in ('creating', 'pending', 'uncertain') and next_lookup_at is null`,
  // Webhooks that are parked already get no `stray_since`, because they were raised when they arrived.
  `alter table ${t.webhooks} add column kind varchar(16) character set ascii collate ascii_bin not null
        default 'webhook',
    add column decided_at ${type.time}, add column stray_since ${type.time},
    add key ${t.webhooks}_stray (stray_since, receipt_id),
    add key ${t.webhooks}_received (received_at, receipt_id)`,
  `alter table ${t.events} add key ${t.events}_client (client_id(191))`,
  `alter table ${t.dispatches} add column settled_at bigint`,
  `create table if not exists ${t.resolutions} (
    id ${type.id} not null primary key, client_id ${type.id} not null,
    action varchar(32) ${type.text} not null,
    receipt_id ${type.id}, reason mediumtext ${type.text} not null,
    resolved_by varchar(255) ${type.text} not null, resolved_at ${type.time} not null,
    key ${t.resolutions}_client (client_id)
  ) ${type.engine}`,
];

/** Adds the service's reports to payments, and persons' evidence to resolutions. */
const keepReports = (t: Tables, type: Types): string[] => [
  `alter table ${t.payments} add column reported mediumtext ${type.text},
    add column provider_id mediumtext ${type.text}`,
  `alter table ${t.resolutions} add column evidence mediumtext ${type.text}`,
];

/**
 * Adds `waits_from`. If the clock shows an earlier time than `waits_from`, the clock was put back, and the
 * dispatch is due. Rows of earlier versions have no `waits_from`.
 */
const distrustClocks = (t: Tables): string[] => [
  // With `waits_from` in the index, a claim reads no rows that still wait.
  `alter table ${t.dispatches} add column waits_from bigint, drop key ${t.dispatches}_open,
    add key ${t.dispatches}_open (open_handler, event_seq, due_at, waits_from)`,
];

/**
 * Adds the column of completed payments that were withheld, and an index by which `prune` finds resolutions.
 */
const keepWithheld = (t: Tables, type: Types): string[] => [
  `alter table ${t.payments} add column withheld varchar(32) ${type.text}`,
  `alter table ${t.resolutions} add key ${t.resolutions}_receipt (receipt_id)`,
];

/** Adds the identity of the tables, which every copy keeps. A spool stores the identity of its tables. */
const identifyTables = (t: Tables): string[] => [
  `insert ignore into ${t.meta} (name, value) values ('identity', uuid())`,
];

/** Adds the table of notes, for example about what people decided about handlers. */
const keepNotes = (t: Tables, type: Types): string[] => [
  `create table if not exists ${t.notes} (
    kind varchar(32) ${type.text} not null, id ${type.id} not null,
    version bigint not null, value mediumtext ${type.text} not null, primary key (kind, id)
  ) ${type.engine}`,
];

/** Adds the failures of a dispatch before its revivals, and the id of the last revival. */
const keepEnds = (t: Tables, type: Types): string[] => [
  `alter table ${t.dispatches} add column past mediumtext ${type.text},
    add column retry_run varchar(64) character set ascii collate ascii_bin,
    add key ${t.dispatches}_run (retry_run, event_id, handler)`,
];

/** Adds the received and the refunded amounts of payments. */
const keepRefunds = (t: Tables, type: Types): string[] => [
  `alter table ${t.payments} add column received varchar(255) ${type.text}, add column refunded varchar(64) ${type.text}`,
  `alter table ${t.resolutions} add column refund mediumtext ${type.text}`,
];

/**
 * Adds `attention`, the reason why a person has to see a row. The indexes of this column replace the index of
 * parked webhooks.
 */
const keepNeeds = (t: Tables, type: Types): string[] => [
  `alter table ${t.payments} add column attention varchar(32) ${type.text},
    add key ${t.payments}_attention (attention, created_at, client_id)`,
  `alter table ${t.webhooks} add column attention varchar(32) ${type.text},
    add key ${t.webhooks}_attention (attention, received_at, receipt_id), drop key ${t.webhooks}_parked`,
  `alter table ${t.dispatches} drop key ${t.dispatches}_dead,
    add key ${t.dispatches}_dead (dead, event_seq, handler)`,
  ...markedNeeds(t),
];

/** Adds the state before and after a person's action. */
const keepActions = (t: Tables, type: Types): string[] => [
  `alter table ${t.resolutions} add column before_text varchar(64) ${type.text},
    add column after_text varchar(64) ${type.text}`,
];

/** Adds the number after which a handler's events begin: 0 for handlers of earlier versions. */
const numberRegistrations = (t: Tables): string[] => [
  `alter table ${t.handlers} add column after_seq bigint not null default 0`,
];

/** Adds the gaps before `after_seq`: an open transaction may have an earlier number, and commit later. */
const numberGaps = (t: Tables): string[] => [`alter table ${t.handlers} add column gaps text`];
