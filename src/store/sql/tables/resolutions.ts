import { type ResolutionRecord } from "../../payment-store.js";
import { type Session } from "../sql-tx.js";
import { type Transaction } from "../transaction.js";
import { type Database } from "./names.js";
import { insertAll } from "./write-rows.js";

const columns = ["id", "client_id", "action", "receipt_id", "reason", "resolved_by", "resolved_at"] as const;

type ResolutionRow = Record<Exclude<(typeof columns)[number], "receipt_id">, string> & {
  receipt_id: string | null;
};

/** Inserts resolutions. Rejects if an id is taken. */
export async function insertResolutions(
  tx: Transaction,
  { dialect, tables }: Database,
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

/** Reads what people settled about one clientId, oldest first. */
export async function resolutionsOf(
  reader: Session,
  { tables }: Database,
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
