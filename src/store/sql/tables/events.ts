import { type EventType } from "../../../event/event-map.js";
import { type EventRecord } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { type Batch, insertAll } from "./write-rows.js";

/** The columns of an event that make it up again, as the claim selects them. */
export interface EventRow {
  id: string;
  type: string;
  client_id: string | null;
  recorded_at: string;
  payload: string;
}

/** Inserts events, each still to be expanded into dispatches; a taken id rejects. */
export async function insertEvents(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  events: readonly EventRecord[],
): Promise<void> {
  await insertAll(tx, dialect, eventsBatch(tables, events));
}

/** The rows of events, still to be expanded unless said otherwise. */
export function eventsBatch(tables: Tables, events: readonly EventRecord[], unexpanded: 1 | null = 1): Batch {
  const rows = events.map((event) => [
    event.id,
    event.type,
    event.clientId ?? null,
    event.recordedAt,
    JSON.stringify(event.payload),
    unexpanded,
  ]);
  const columns = ["id", "type", "client_id", "recorded_at", "payload", "unexpanded"];
  return {
    table: tables.events,
    columns,
    rows,
    numbers: ["unexpanded"],
    alike: [["recorded_at", "unexpanded"], ["type"]],
  };
}

export function eventOf(row: EventRow): EventRecord {
  return {
    id: row.id,
    type: row.type as EventType,
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    recordedAt: row.recorded_at,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
  };
}
