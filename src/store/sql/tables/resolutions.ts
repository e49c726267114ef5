import { type Evidence, type Refund } from "../../../model/payment.js";
import { type HistoryPage, type ResolutionRecord } from "../../contract.js";
import { allOf } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { insertAll } from "./write-rows.js";

const required = ["id", "client_id", "action", "reason", "resolved_by", "resolved_at"] as const;
const nullable = ["receipt_id", "evidence", "refund", "before_text", "after_text"] as const;
const columns = [...required, ...nullable];

type ResolutionRow = Record<(typeof required)[number], string> &
  Record<(typeof nullable)[number], string | null>;

/** Inserts resolutions. Throws `store_conflict` if an id is taken. */
export async function insertResolutions(
  tx: Transaction,
  { dialect, tables }: Database,
  resolutions: readonly ResolutionRecord[],
): Promise<void> {
  const rows = resolutions.map((one) => [
    one.id,
    one.clientId,
    one.action,
    one.reason,
    one.by,
    one.at,
    one.receiptId ?? null,
    one.evidence ? JSON.stringify(one.evidence) : null,
    one.refund ? JSON.stringify(one.refund) : null,
    one.before ?? null,
    one.after ?? null,
  ]);
  await insertAll(tx, dialect, { table: tables.resolutions, columns, rows });
}

/** Reads the newest resolutions about a clientId, and returns them oldest first. */
export async function resolutionsOf(
  reader: Session,
  { tables }: Database,
  clientId: string,
  { limit = 1000, before: { resolution } = {} }: HistoryPage,
): Promise<ResolutionRecord[]> {
  const { sql, params } = allOf([
    { sql: "client_id = ?", params: [clientId] },
    {
      sql: "resolved_at <= ? and (resolved_at < ? or id < ?)",
      params: [resolution?.at, resolution?.at, resolution?.id],
    },
  ]);
  const { rows } = await reader.run<ResolutionRow>(
    `select ${columns.join(", ")} from ${tables.resolutions} where ${sql} order by resolved_at desc, id desc limit ?`,
    [...params, limit],
  );
  return rows.toReversed().map(resolutionOf);
}

function resolutionOf(row: ResolutionRow): ResolutionRecord {
  return {
    id: row.id,
    clientId: row.client_id,
    action: row.action as ResolutionRecord["action"],
    ...(row.receipt_id === null ? {} : { receiptId: row.receipt_id }),
    ...(row.evidence !== null && { evidence: JSON.parse(row.evidence) as Evidence }),
    ...(row.refund !== null && { refund: JSON.parse(row.refund) as Refund }),
    ...(row.before_text !== null && { before: row.before_text }),
    ...(row.after_text !== null && { after: row.after_text }),
    reason: row.reason,
    by: row.resolved_by,
    at: row.resolved_at,
  };
}
