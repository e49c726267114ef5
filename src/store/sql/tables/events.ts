import { type EventType } from "../../../model/event-map.js";
import { type EventRecord } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { insertAll } from "./write-rows.js";
import { type Batch } from "./batch.js";

/** The columns of an event that make it up again, as the claim selects them. */
export interface EventRow {
  id: string;
  type: string;
  client_id: string | null;
  recorded_at: string;
  payload: string;
}

/** Inserts events, which are given their dispatches later; a taken id rejects. */
export async function insertEvents(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  events: readonly EventRecord[],
): Promise<void> {
  await insertAll(tx, dialect, eventsBatch(tables, dialect, events));
}

/** The rows of events, marked as still to be expanded where a mark tells. */
export function eventsBatch(tables: Tables, dialect: Dialect, events: readonly EventRecord[]): Batch {
  const mark = dialect.commitsInOrder ? undefined : "unexpanded";
  const rows = events.map((event) => {
    const values: unknown[] = [event.id, event.type, event.clientId ?? null, event.recordedAt];
    values.push(JSON.stringify(event.payload));
    if (mark) values.push(1);
    return values;
  });
  return {
    table: tables.events,
    columns: ["id", "type", "client_id", "recorded_at", "payload", ...(mark ? [mark] : [])],
    rows,
    ...(mark && { numbers: [mark], alike: [["recorded_at", mark], ["type"]] }),
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
