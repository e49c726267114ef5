import { type Tables } from "../tables/names.js";

/**
 * The steps from an empty database to the newest tables; step n leads to version n + 1. Append only. MySQL commits each
 * of them by itself, so every statement can be run again.
 */
export function mysqlMigrations(t: Tables, collation: string): readonly (readonly string[])[] {
  const text = `character set utf8mb4 collate ${collation}`;
  const time = "varchar(40) character set ascii collate ascii_bin";
  const id = `varchar(191) ${text}`;
  const end = `engine = InnoDB row_format = dynamic default character set utf8mb4 collate ${collation}`;
  return [
    [
      `create table if not exists ${t.payments} (
        client_id ${id} not null primary key,
        reference varchar(255) ${text} not null,
        total_value varchar(64) ${text} not null,
        total_currency varchar(16) ${text} not null,
        state varchar(32) ${text} not null,
        status mediumtext ${text},
        open_reference varchar(255) ${text},
        service_id varchar(500) ${text},
        checkout_url mediumtext ${text},
        return_key_hash varchar(255) ${text},
        locale varchar(255) ${text},
        metadata mediumtext ${text},
        created_at ${time} not null,
        updated_at ${time} not null,
        completed_at ${time},
        success_returned_at ${time},
        cancel_returned_at ${time},
        replaced_by ${id},
        failure mediumtext ${text},
        overdue_at ${time},
        awaited_since ${time},
        key ${t.payments}_reference (reference),
        unique key ${t.payments}_open (open_reference),
        unique key ${t.payments}_service (service_id),
        key ${t.payments}_awaited (awaited_since, client_id)
      ) ${end}`,
      `create table if not exists ${t.webhooks} (
        seq bigint not null auto_increment primary key,
        receipt_id ${id} not null,
        event_key ${id} not null,
        outcome varchar(32) ${text} not null,
        reason mediumtext ${text},
        client_id mediumtext ${text},
        status mediumtext ${text},
        raw_body longblob not null,
        covers varchar(500) character set ascii collate ascii_bin not null,
        received_at ${time} not null,
        copies bigint not null default 0,
        parked tinyint,
        kept_since ${time},
        key ${t.webhooks}_parked (parked),
        key ${t.webhooks}_kept (kept_since),
        unique key ${t.webhooks}_receipt (receipt_id),
        unique key ${t.webhooks}_event (event_key),
        key ${t.webhooks}_client (client_id(191))
      ) ${end}`,
      `create table if not exists ${t.events} (
        seq bigint not null auto_increment primary key,
        id ${id} not null,
        type varchar(64) ${text} not null,
        client_id mediumtext ${text},
        recorded_at ${time} not null,
        payload longtext ${text} not null,
        unexpanded tinyint,
        key ${t.events}_recorded (recorded_at),
        unique key ${t.events}_id (id),
        key ${t.events}_unexpanded (unexpanded, seq)
      ) ${end}`,
      `create table if not exists ${t.handlers} (
        event varchar(64) ${text} not null,
        name ${id} not null,
        primary key (event, name)
      ) ${end}`,
      `create table if not exists ${t.dispatches} (
        event_id ${id} not null,
        handler ${id} not null,
        event_type varchar(64) ${text} not null,
        event_seq bigint not null,
        state varchar(32) ${text} not null,
        open_handler ${id},
        due_at bigint,
        attempt int not null,
        failures int not null,
        fence int not null,
        error mediumtext ${text},
        dead tinyint,
        key ${t.dispatches}_dead (dead),
        primary key (event_id, handler),
        key ${t.dispatches}_open (open_handler, event_seq, due_at)
      ) ${end}`,
      `insert ignore into ${t.meta} (name, value) values ('handlers', '')`,
    ],
    // One statement for each table: it is made as a whole or not at all, and "exists already" means made.
    [
      `alter table ${t.payments} add column next_lookup_at ${time}, add column lookups int,
        add key ${t.payments}_lookup (next_lookup_at, client_id),
        add key ${t.payments}_created (created_at, client_id),
        add key ${t.payments}_state (state, created_at, client_id)`,
      `update ${t.payments} set next_lookup_at = created_at
        where state in ('creating', 'pending', 'uncertain') and next_lookup_at is null`,
      // No stray_since for what is parked by now: it was raised when it came.
      `alter table ${t.webhooks} add column kind varchar(16) character set ascii collate ascii_bin not null
          default 'webhook',
        add column decided_at ${time}, add column stray_since ${time},
        add key ${t.webhooks}_stray (stray_since, receipt_id),
        add key ${t.webhooks}_received (received_at, receipt_id)`,
      `alter table ${t.events} add key ${t.events}_client (client_id(191))`,
      `alter table ${t.dispatches} add column settled_at bigint`,
      `create table if not exists ${t.resolutions} (
        id ${id} not null primary key,
        client_id ${id} not null,
        action varchar(32) ${text} not null,
        receipt_id ${id},
        reason mediumtext ${text} not null,
        resolved_by varchar(255) ${text} not null,
        resolved_at ${time} not null,
        key ${t.resolutions}_client (client_id)
      ) ${end}`,
    ],
  ];
}
