import { type ResolutionRecord } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type KitTx, type Session } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { insertAll } from "./write-rows.js";

interface ResolutionRow {
  id: string;
  client_id: string;
  action: string;
  receipt_id: string | null;
  reason: string;
  resolved_by: string;
  resolved_at: string;
}

const columns = [
  "id",
  "client_id",
  "action",
  "receipt_id",
  "reason",
  "resolved_by",
  "resolved_at",
] as const satisfies readonly (keyof ResolutionRow)[];

/** Inserts resolutions; a taken id rejects. */
export async function insertResolutions(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  resolutions: readonly ResolutionRecord[],
): Promise<void> {
  const rows = resolutions.map((one) => [
    one.id,
    one.clientId,
    one.action,
    one.receiptId ?? null,
    one.reason,
    one.by,
    one.at,
  ]);
  await insertAll(tx, dialect, { table: tables.resolutions, columns, rows });
}

/** What people settled about one clientId, oldest first. */
export async function resolutionsOf(
  reader: Session,
  tables: Tables,
  clientId: string,
  limit: number,
): Promise<ResolutionRecord[]> {
  const { rows } = await reader.run<ResolutionRow>(
    `select ${columns.join(", ")} from ${tables.resolutions} where client_id = ? order by resolved_at, id limit ?`,
    [clientId, limit],
  );
  return rows.map(resolutionOf);
}

function resolutionOf(row: ResolutionRow): ResolutionRecord {
  return {
    id: row.id,
    clientId: row.client_id,
    action: row.action as ResolutionRecord["action"],
    ...(row.receipt_id === null ? {} : { receiptId: row.receipt_id }),
    reason: row.reason,
    by: row.resolved_by,
    at: row.resolved_at,
  };
}
