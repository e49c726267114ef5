import { type EventType } from "../../../model/event-map.js";
import { type EventRecord } from "../../contract.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { type Batch, insertAll } from "./write-rows.js";

/** The columns from which an event is read. */
export interface EventRow {
  id: string;
  type: string;
  client_id: string | null;
  recorded_at: string;
  payload: string;
}

/** Inserts events, which get their dispatches later. Throws `store_conflict` if an id is taken. */
export async function insertEvents(
  tx: Transaction,
  db: Database,
  events: readonly EventRecord[],
): Promise<void> {
  await insertAll(tx, db.dialect, eventsBatch(db, events));
}

/** Returns the rows of events. If the dialect needs it, marks each row as without dispatches. */
export function eventsBatch({ dialect, tables }: Database, events: readonly EventRecord[]): Batch {
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
    ...(mark && { numbers: [mark], uniform: [["recorded_at", mark], ["type"]] }),
  };
}

/** Returns the event of a row. */
export function eventFromRow(row: EventRow): EventRecord {
  return {
    id: row.id,
    type: row.type as EventType,
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    recordedAt: row.recorded_at,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
  };
}
