import { type EventType } from "../../../model/event-map.js";
import {
  type DeadPage,
  type DispatchRecord,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../../payment-store.js";
import { type Dialect, pageOf } from "../dialect.js";
import { type KitTx, type Session } from "../sql-tx.js";
import { aboutClient } from "./about-client.js";
import { eventOf, type EventRow } from "./events.js";
import { type Tables } from "./names.js";
import { resolutionsOf } from "./resolutions.js";
import { webhookColumns, webhookOf, type WebhookRow } from "./webhooks.js";
import { chunks } from "./write-rows.js";

/** Most of each kind that a history answers. */
const historyLimit = 1000;

/** What is on record about one clientId. */
export async function historyOf(
  reader: Session,
  dialect: Dialect,
  t: Tables,
  clientId: string,
): Promise<StoredHistory> {
  const ofWebhooks = aboutClient(dialect, t, "webhooks", clientId);
  const ofEvents = aboutClient(dialect, t, "events", clientId);
  const light = webhookColumns.filter((column) => column !== "raw_body").join(", ");
  const webhooks = await reader.run<Omit<WebhookRow, "raw_body"> & { copies: unknown }>(
    `select ${light}, copies from ${t.webhooks} where ${ofWebhooks.sql} order by received_at, receipt_id limit ?`,
    [...ofWebhooks.params, historyLimit],
  );
  const events = await reader.run<EventRow>(
    `select id, type, client_id, recorded_at, payload from ${t.events} where ${ofEvents.sql} order by seq limit ?`,
    [...ofEvents.params, historyLimit],
  );
  const dispatches = await reader.run<DispatchRow>(
    `select ${dispatchColumns} from ${t.events} e join ${t.dispatches} d on d.event_id = e.id
      where ${ofEvents.sql} order by e.seq, d.handler limit ?`,
    [...ofEvents.params, historyLimit],
  );
  const resolutions = await resolutionsOf(reader, t, clientId, historyLimit);
  return {
    webhooks: webhooks.rows.map(({ copies, ...row }) => {
      const { rawBody: _, ...webhook } = webhookOf({ ...row, raw_body: new Uint8Array() });
      return { ...webhook, copies: Number(copies) };
    }),
    events: events.rows.map(eventOf),
    dispatches: dispatches.rows.map(dispatchOf),
    resolutions,
  };
}

/** One page of the webhooks on record. */
export async function webhooksPage(
  reader: Session,
  dialect: Dialect,
  t: Tables,
  page: WebhookPage,
): Promise<WebhookRecord[]> {
  const { clientId, receiptId, outcome, from, to, after, limit } = page;
  const where: string[] = [];
  const params: unknown[] = [];
  const add = (sql: string, ...values: unknown[]): void => {
    if (values.includes(undefined)) return;
    where.push(sql);
    params.push(...values);
  };
  if (clientId !== undefined) {
    const ofClient = aboutClient(dialect, t, "webhooks", clientId);
    add(ofClient.sql, ...ofClient.params);
  }
  add("receipt_id = ?", receiptId);
  add("outcome = ?", outcome);
  add("received_at >= ?", from);
  add("received_at < ?", to);
  add(
    "received_at >= ? and (received_at > ? or receipt_id > ?)",
    after?.receivedAt,
    after?.receivedAt,
    after?.receiptId,
  );
  const isApart = dialect.sparesIndexes && clientId === undefined && receiptId === undefined;
  const parts = isApart ? ["kept_since is not null", "kept_since is null"] : ["1 = 1"];
  const queries = parts.map((part) => ({
    sql: `select ${webhookColumns.join(", ")} from ${t.webhooks} where ${[part, ...where].join(" and ")}`,
    params,
  }));
  const query = pageOf(dialect, queries, "received_at, receipt_id", limit);
  const { rows } = await reader.run<WebhookRow>(query.sql, query.params);
  return rows.map(webhookOf);
}

/** Dead dispatches, and where asked for, back to life: their fences stay, so that no run of old can settle them. */
export async function deadDispatches(
  tx: KitTx,
  dialect: Dialect,
  t: Tables,
  { eventId, handler, type, revive, limit }: DeadPage,
): Promise<DispatchRecord[]> {
  const { rows } = await tx.run<DispatchRow>(
    `select ${dispatchColumns} from ${t.dispatches} d join ${t.events} e on e.id = d.event_id
      where d.dead = 1 ${eventId === undefined ? "" : "and d.event_id = ?"}
        ${handler === undefined ? "" : "and d.handler = ?"} ${type === undefined ? "" : "and d.event_type = ?"}
      order by d.event_seq, d.handler limit ? ${revive ? dialect.forUpdate : ""}`,
    [...[eventId, handler, type].filter((value) => value !== undefined), limit],
  );
  if (!revive) return rows.map(dispatchOf);
  for (const group of chunks(rows, 100)) {
    const which = group.map(() => "(event_id = ? and handler = ?)").join(" or ");
    await tx.run(
      `update ${t.dispatches} set state = 'pending', dead = null, open_handler = handler, due_at = ${dialect.now},
        attempt = 0, failures = 0, error = null, settled_at = null where ${which}`,
      group.flatMap(({ event_id, handler: name }) => [event_id, name]),
    );
  }
  return rows.map(dispatchOf);
}

interface DispatchRow {
  event_id: string;
  type: string;
  client_id: string | null;
  handler: string;
  state: string;
  attempt: number | string;
  failures: number | string;
  error: string | null;
  settled_at: number | string | null;
}

const dispatchColumns =
  "d.event_id, e.type, e.client_id, d.handler, d.state, d.attempt, d.failures, d.error, d.settled_at";

function dispatchOf(row: DispatchRow): DispatchRecord {
  return {
    eventId: row.event_id,
    type: row.type as EventType,
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    handler: row.handler,
    state: row.state as DispatchRecord["state"],
    attempt: Number(row.attempt),
    failures: Number(row.failures),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.settled_at === null ? {} : { settledAt: new Date(Number(row.settled_at)).toISOString() }),
  };
}
