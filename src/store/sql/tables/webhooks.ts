import { rankedStatuses } from "../../../model/status-order.js";
import { type SignedField } from "../../../model/signed-fields.js";
import { type Changes, type WebhookRecord } from "../../contract.js";
import { needOfOutcome, needOfWebhook, isWaiting } from "../../rules/webhooks.js";
import { type Fragment } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { type Batch, chunks, insertNew, updateByKey } from "./write-rows.js";

/** The columns from which a webhook is read. */
export const webhookColumns = [
  "receipt_id",
  "event_key",
  "outcome",
  "reason",
  "client_id",
  "status",
  "raw_body",
  "covers",
  "received_at",
  "kind",
  "decided_at",
] as const;

type NullableColumn = "reason" | "client_id" | "status" | "decided_at";

/** A row of the table of webhooks. */
export type WebhookRow = Record<
  Exclude<(typeof webhookColumns)[number], NullableColumn | "raw_body">,
  string
> &
  Record<NullableColumn, string | null> & { raw_body: Uint8Array; copies?: unknown };

/** Inserts webhooks. Returns the eventKeys of webhooks whose eventKey or receiptId is taken. */
export async function insertWebhooks(
  tx: Transaction,
  db: Database,
  webhooks: readonly WebhookRecord[],
): Promise<string[]> {
  const leftOut = await insertNew(tx, db.dialect, webhooksBatch(db, webhooks));
  return webhooks.filter((_, index) => leftOut.has(index)).map((webhook) => webhook.eventKey);
}

/** Returns the rows of webhooks. */
export function webhooksBatch({ tables }: Database, webhooks: readonly WebhookRecord[]): Batch {
  const rows = webhooks.map((webhook) => [
    webhook.receiptId,
    webhook.eventKey,
    webhook.outcome,
    webhook.reason ?? null,
    webhook.clientId ?? null,
    webhook.status ?? null,
    webhook.rawBody,
    coversOf(webhook),
    webhook.receivedAt,
    webhook.kind ?? "webhook",
    webhook.decidedAt ?? null,
    isWaiting(webhook) ? 1 : null,
    webhook.receivedAt,
    isWaiting(webhook) ? webhook.receivedAt : null,
    needOfWebhook(webhook) ?? null,
  ]);
  return {
    table: tables.webhooks,
    columns: [...webhookColumns, "parked", "kept_since", "stray_since", "attention"],
    rows,
    bytes: "raw_body",
    numbers: ["parked"],
    uniform: [
      ["covers", "kind", "decided_at"],
      ["outcome", "reason", "status", "parked", "stray_since", "attention"],
    ],
  };
}

function coversOf({ covers }: WebhookRecord): string {
  return covers === "body" ? covers : covers.join(",");
}

/** Counts further copies of webhooks. */
export async function countCopies(
  tx: Transaction,
  db: Database,
  copies: NonNullable<Changes["copies"]>,
): Promise<void> {
  for (const { sql, params } of copiesStatements(db, copies)) await tx.run(sql, params);
}

/** Returns statements that count copies, in eventKey order, so that two transactions cannot deadlock. */
export function copiesStatements(
  { dialect, tables }: Database,
  copies: NonNullable<Changes["copies"]>,
): Fragment[] {
  const sums = new Map<string, number>();
  for (const { eventKey, count } of copies) sums.set(eventKey, (sums.get(eventKey) ?? 0) + count);
  const sorted = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return chunks(sorted, 100).map((group) => {
    const arms = "when ? then cast(? as decimal(20)) ".repeat(group.length);
    const keys = group.map(([eventKey]) => eventKey);
    const which = dialect.among("event_key", keys);
    return {
      sql: `update ${tables.webhooks} set copies = copies + case event_key ${arms}end where ${which.sql}`,
      params: [...group.flat(), ...which.params],
    };
  });
}

/** Gives webhooks their new outcomes. */
export async function updateRematched(
  tx: Transaction,
  { dialect, tables }: Database,
  rematched: NonNullable<Changes["rematched"]>,
): Promise<void> {
  if (rematched.length === 0) return;
  const rows = rematched.map(({ receiptId, outcome, reason, decidedAt }) => [
    receiptId,
    outcome,
    reason ?? null,
    decidedAt ?? null,
  ]);
  const columns = ["receipt_id", "outcome", "reason", "decided_at"];
  await updateByKey(tx, dialect, { table: tables.webhooks, columns, rows });
  const ids = rematched.map(({ receiptId }) => receiptId);
  const which = dialect.among("receipt_id", ids);
  // A webhook that waits for a payment must be in the index by clientId.
  const listed = dialect.listsFewByClient ? "unlisted = null," : "";
  // `parked` and `stray_since` are null in almost every row, so that their indexes are small.
  await tx.run(
    `update ${tables.webhooks} set ${listed} parked = case when ${waits} then 1 end,
      stray_since = case when ${waits} then received_at end, attention = ${needSql} where ${which.sql}`,
    which.params,
  );
}

/** Marks webhooks that a resolution names as no longer needing a person. */
export async function markResolved(
  tx: Transaction,
  { dialect, tables }: Database,
  receiptIds: readonly string[],
): Promise<void> {
  for (const group of chunks(receiptIds, 100)) {
    const which = dialect.among("receipt_id", group);
    await tx.run(`update ${tables.webhooks} set attention = null where ${which.sql}`, which.params);
  }
}

/** Marks raised webhooks as no longer stray, and dismissed webhooks also as no longer waiting. */
export async function markRaised(
  tx: Transaction,
  { dialect, tables }: Database,
  { raised = [], dismissed = [] }: Pick<Changes, "raised" | "dismissed">,
): Promise<void> {
  const marks = [
    { ids: raised, set: "stray_since = null" },
    {
      ids: dismissed,
      set: `stray_since = null, parked = null, attention = case when ${waits} then null else attention end`,
    },
  ];
  for (const { ids, set } of marks)
    for (const group of chunks(ids, 100)) {
      const which = dialect.among("receipt_id", group);
      await tx.run(`update ${tables.webhooks} set ${set} where ${which.sql}`, which.params);
    }
}

/** Reads the webhooks of these clientIds that are decided again when their payment appears, oldest first. */
export async function rematchableWebhooks(
  tx: Transaction,
  { dialect, tables }: Database,
  clientIds: readonly string[],
): Promise<WebhookRecord[]> {
  if (clientIds.length === 0) return [];
  const which = dialect.among("client_id", clientIds);
  const listed = dialect.listsFewByClient ? "unlisted is null and" : "";
  const where = `outcome in ('unmatched', 'unconfirmed', 'foreign') and ${listed} ${which.sql}`;
  return readWebhooks(tx, `${tables.webhooks} where ${where} order by seq`, which.params);
}

/** Reads stray webhooks that were received before a time, oldest first. Locks them against other sweeps. */
export function strayWebhooks(
  tx: Transaction,
  { dialect, tables }: Database,
  { before, limit }: { before: string; limit: number },
): Promise<WebhookRecord[]> {
  const order = `order by stray_since, receipt_id limit ? ${dialect.forUpdateSkipLocked}`;
  return readWebhooks(tx, `${tables.webhooks} where stray_since < ? ${order}`, [before, limit]);
}

async function readWebhooks(
  tx: Transaction,
  from: string,
  params: readonly unknown[],
): Promise<WebhookRecord[]> {
  const { rows } = await tx.run<WebhookRow>(`select ${webhookColumns.join(", ")} from ${from}`, params);
  return rows.map(webhookFromRow);
}

const waits = "outcome in ('unmatched', 'unconfirmed')";

/** The result of `needOfWebhook` as an SQL expression. */
const needSql = `case when outcome = 'stale' then
    case when status not in (${rankedStatuses.map((status) => `'${status}'`).join(", ")}) then 'reported' end
  ${Object.entries(needOfOutcome)
    .map(([outcome, need]) => `when outcome = '${outcome}' then '${need}'`)
    .join(" ")} end`;

/** Returns the webhook of a row. */
export function webhookFromRow(row: WebhookRow): WebhookRecord {
  return {
    receiptId: row.receipt_id,
    eventKey: row.event_key,
    outcome: row.outcome as WebhookRecord["outcome"],
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    ...(row.status === null ? {} : { status: row.status }),
    rawBody: Buffer.from(row.raw_body),
    covers: row.covers === "body" ? row.covers : (row.covers.split(",") as SignedField[]),
    receivedAt: row.received_at,
    ...(Number(row.copies ?? 0) > 0 && { copies: Number(row.copies) }),
    ...(row.kind === "lookup" && { kind: row.kind }),
    ...(row.decided_at === null ? {} : { decidedAt: row.decided_at }),
  };
}
