import { type Changes, type Locked } from "../../payment-store.js";
import { type Dialect, type Fragment } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { eventsBatch } from "./events.js";
import { type Tables } from "./names.js";
import { expectUpdated, changedPaymentsBatch, differingPaymentsBatch } from "./payments.js";
import { webhooksBatch } from "./webhooks.js";
import { insertStatements, updateStatements } from "./write-rows.js";

const togetherable: readonly (keyof Changes)[] = ["updated", "webhooks", "events"];

/** Whether {@link saveTogether} writes all of it. */
export function canSaveTogether(dialect: Dialect, changes: Changes): boolean {
  return dialect.takesLists && areUsual(changes);
}

/**
 * Whether the changes are those of nearly every group of webhooks, and may be written in one statement: nothing but
 * these three, each payment once, and no payment that closes an attempt besides one that opens it, because the parts of a
 * statement have no order.
 */
export function areUsual(changes: Changes): boolean {
  const { updated = [] } = changes;
  return (
    Object.entries(changes).every(
      ([name, list]) => list.length === 0 || togetherable.includes(name as keyof Changes),
    ) &&
    updated.every(({ open }) => open === updated[0]!.open) &&
    new Set(updated.map(({ clientId }) => clientId)).size === updated.length
  );
}

/**
 * Writes them in one statement, where three would wait for the database three times. Answers the eventKeys of webhooks that
 * were left out, because their eventKey or receiptId is taken.
 */
export async function saveTogether(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  { updated = [], webhooks = [], events = [] }: Changes,
): Promise<string[]> {
  const parts: Fragment[] = [];
  const answers = { changed: "0", stored: "null" };
  if (updated.length > 0) {
    const [{ sql, params }] = updateStatements(dialect, changedPaymentsBatch(tables, updated)) as [Fragment];
    parts.push({ sql: `changed as (${sql} returning 1)`, params });
    answers.changed = "(select count(*) from changed)";
  }
  if (webhooks.length > 0) {
    const [{ sql, params }] = insertStatements(dialect, webhooksBatch(tables, webhooks)) as [Fragment];
    parts.push({ sql: `stored as (${sql} on conflict do nothing returning receipt_id)`, params });
    answers.stored = "(select array_agg(receipt_id) from stored)";
  }
  if (events.length > 0) {
    const [{ sql, params }] = insertStatements(dialect, eventsBatch(tables, dialect, events)) as [Fragment];
    parts.push({ sql: `raised as (${sql})`, params });
  }
  if (parts.length === 0) return [];
  const { rows } = await tx.run<{ changed: unknown; stored: string[] | null }>(
    `with ${parts.map(({ sql }) => sql).join(", ")} select ${answers.changed} as changed, ${answers.stored} as stored`,
    parts.flatMap(({ params }) => params),
  );
  await expectUpdated(tx, updated.length, Number(rows[0]!.changed));
  const stored = new Set(rows[0]!.stored);
  return webhooks.filter(({ receiptId }) => !stored.delete(receiptId)).map(({ eventKey }) => eventKey);
}

/**
 * The same for whoever cannot look at the answer before the commit: rejects where a webhook is taken. The payments must
 * be among those that are locked. In one statement, or where the database has none that writes several tables, in one for
 * each; all are handed over before this returns.
 */
export async function saveOrFail(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  { updated = [], webhooks = [], events = [] }: Changes,
  { payments }: Pick<Locked, "payments">,
): Promise<void> {
  const changed = differingPaymentsBatch(tables, updated, payments);
  const parts = [
    ...(changed.columns.length > 1 ? updateStatements(dialect, changed) : []),
    ...(webhooks.length > 0 ? insertStatements(dialect, webhooksBatch(tables, webhooks)) : []),
    ...(events.length > 0 ? insertStatements(dialect, eventsBatch(tables, dialect, events)) : []),
  ];
  if (parts.length === 0) return;
  if (!dialect.writesInQueries) {
    await Promise.all(parts.map(({ sql, params }) => tx.run(sql, params)));
    return;
  }
  const named = parts.map(({ sql }, index) => `part${index} as (${sql})`);
  await tx.run(
    `with ${named.join(", ")} select 1`,
    parts.flatMap(({ params }) => params),
  );
}
