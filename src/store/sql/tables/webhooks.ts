import { type SignedField } from "../../../model/signed-fields.js";
import { type Changes, type WebhookRecord } from "../../payment-store.js";
import { type Dialect, type Fragment } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { chunks, insertNew, updateByKey } from "./write-rows.js";
import { type Batch } from "./batch.js";

export interface WebhookRow {
  receipt_id: string;
  event_key: string;
  outcome: string;
  reason: string | null;
  client_id: string | null;
  status: string | null;
  raw_body: Uint8Array;
  covers: string;
  received_at: string;
  kind: string;
  decided_at: string | null;
}

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
] as const satisfies readonly (keyof WebhookRow)[];

/** Inserts webhooks; answers the eventKeys of those whose eventKey or receiptId is taken. */
export async function insertWebhooks(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  webhooks: readonly WebhookRecord[],
): Promise<string[]> {
  const leftOut = await insertNew(tx, dialect, webhooksBatch(tables, webhooks));
  return webhooks.filter((_, index) => leftOut.has(index)).map((webhook) => webhook.eventKey);
}

/** The rows of webhooks. */
export function webhooksBatch(tables: Tables, webhooks: readonly WebhookRecord[]): Batch {
  const rows = webhooks.map((webhook) => [
    webhook.receiptId,
    webhook.eventKey,
    webhook.outcome,
    webhook.reason ?? null,
    webhook.clientId ?? null,
    webhook.status ?? null,
    webhook.rawBody,
    coveredText(webhook),
    webhook.receivedAt,
    webhook.kind ?? "webhook",
    webhook.decidedAt ?? null,
    isWaiting(webhook.outcome) ? 1 : null,
    webhook.receivedAt,
    isWaiting(webhook.outcome) ? webhook.receivedAt : null,
  ]);
  return {
    table: tables.webhooks,
    columns: [...webhookColumns, "parked", "kept_since", "stray_since"],
    rows,
    bytes: "raw_body",
    numbers: ["parked"],
    alike: [
      ["covers", "kind", "decided_at"],
      ["outcome", "reason", "status", "parked", "stray_since"],
    ],
  };
}

/** The columns of a webhook that has nothing in the others, as nearly every one: fewer values to bind. */
export const plainColumns = [
  "receipt_id",
  "event_key",
  "outcome",
  "client_id",
  "status",
  "raw_body",
  "covers",
  "received_at",
  "kept_since",
];

export function isPlain({ reason, kind, decidedAt, outcome }: WebhookRecord): boolean {
  return reason === undefined && kind === undefined && decidedAt === undefined && !isWaiting(outcome);
}

/** The values of {@link plainColumns}. */
export function plainValues(webhook: WebhookRecord): unknown[] {
  const { receiptId, eventKey, outcome, clientId, status, rawBody, receivedAt } = webhook;
  const covered = coveredText(webhook);
  return [receiptId, eventKey, outcome, clientId, status, rawBody, covered, receivedAt, receivedAt];
}

function coveredText({ covers }: WebhookRecord): string {
  return covers === "body" ? covers : covers.join(",");
}

/** Counts further copies. */
export async function countCopies(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  copies: NonNullable<Changes["copies"]>,
): Promise<void> {
  for (const { sql, params } of copiesStatements(dialect, tables, copies)) await tx.run(sql, params);
}

/** What counts them, in eventKey order, so that two transactions that count the same cannot deadlock. */
export function copiesStatements(
  dialect: Dialect,
  tables: Tables,
  copies: NonNullable<Changes["copies"]>,
): Fragment[] {
  const sums = new Map<string, number>();
  for (const { eventKey, count } of copies) sums.set(eventKey, (sums.get(eventKey) ?? 0) + count);
  const sorted = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return chunks(sorted, 100).map((group) => {
    const arms = "when ? then cast(? as decimal(20)) ".repeat(group.length);
    const which = dialect.among(
      "event_key",
      group.map(([eventKey]) => eventKey),
    );
    return {
      sql: `update ${tables.webhooks} set copies = copies + case event_key ${arms}end where ${which.sql}`,
      params: [...group.flat(), ...which.params],
    };
  });
}

/** Gives webhooks that were decided again the outcome that they have now. */
export async function rematch(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  rematched: NonNullable<Changes["rematched"]>,
): Promise<void> {
  const rows = rematched.map(({ receiptId, outcome, reason, decidedAt }) => [
    receiptId,
    outcome,
    reason ?? null,
    decidedAt ?? null,
  ]);
  await updateByKey(tx, dialect, {
    table: tables.webhooks,
    columns: ["receipt_id", "outcome", "reason", "decided_at"],
    rows,
  });
  if (rematched.length === 0) return;
  const which = dialect.among(
    "receipt_id",
    rematched.map(({ receiptId }) => receiptId),
  );
  // Those that wait are looked for in the index.
  const listed = dialect.listsFewByClient ? "unlisted = null," : "";
  // Two columns of their own, null for almost every row, so that the few that wait are found at once.
  await tx.run(
    `update ${tables.webhooks} set ${listed} parked = case when ${waits} then 1 end,
      stray_since = case when ${waits} then received_at end where ${which.sql}`,
    which.params,
  );
}

/** Those that were told of are stray no more; those that were dismissed do not even wait. */
export async function markTold(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  { raised = [], dismissed = [] }: Pick<Changes, "raised" | "dismissed">,
): Promise<void> {
  for (const group of chunks(raised, 100)) {
    const which = dialect.among("receipt_id", group);
    await tx.run(`update ${tables.webhooks} set stray_since = null where ${which.sql}`, which.params);
  }
  for (const group of chunks(dismissed, 100)) {
    const which = dialect.among("receipt_id", group);
    await tx.run(
      `update ${tables.webhooks} set stray_since = null, parked = null where ${which.sql}`,
      which.params,
    );
  }
}

/** The webhooks that wait for one of these payments, oldest first. */
export async function parkedWebhooks(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  clientIds: readonly string[],
): Promise<WebhookRecord[]> {
  if (clientIds.length === 0) return [];
  const which = dialect.among("client_id", clientIds);
  const listed = dialect.listsFewByClient ? "unlisted is null and" : "";
  const { rows } = await tx.run<WebhookRow>(
    `select ${webhookColumns.join(", ")} from ${tables.webhooks}
      where outcome in ('unmatched', 'unconfirmed', 'foreign') and ${listed} ${which.sql} order by seq`,
    which.params,
  );
  return rows.map(webhookOf);
}

/** Waiting webhooks that nobody was told of, oldest first, locked against other sweeps. */
export async function strayWebhooks(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  { before, limit }: { before: string; limit: number },
): Promise<WebhookRecord[]> {
  const { rows } = await tx.run<WebhookRow>(
    `select ${webhookColumns.join(", ")} from ${tables.webhooks} where stray_since < ?
      order by stray_since, receipt_id limit ? ${dialect.forUpdateSkipLocked}`,
    [before, limit],
  );
  return rows.map(webhookOf);
}

const waits = "outcome in ('unmatched', 'unconfirmed')";

function isWaiting(outcome: WebhookRecord["outcome"]): boolean {
  return outcome === "unmatched" || outcome === "unconfirmed";
}

export function webhookOf(row: WebhookRow): WebhookRecord {
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
    ...(row.kind === "lookup" && { kind: row.kind }),
    ...(row.decided_at === null ? {} : { decidedAt: row.decided_at }),
  };
}
