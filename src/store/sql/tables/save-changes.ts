import { createHash, randomUUID } from "node:crypto";
import { type Payment } from "../../../model/payment.js";
import { type Changes, type Locked, type Saved } from "../../contract.js";
import { type Transaction } from "../transaction/transaction.js";
import { eventsBatch, insertEvents } from "./events.js";
import { type Database } from "./names.js";
import { writeNotes } from "./notes.js";
import {
  changedPaymentsBatch,
  differingPaymentsBatch,
  expectUpdated,
  insertPayments,
  updatePayments,
} from "./payments.js";
import { insertResolutions } from "./resolutions.js";
import {
  countCopies,
  insertWebhooks,
  markRaised,
  markResolved,
  updateRematched,
  webhooksBatch,
} from "./webhooks.js";
import { resolvedBy } from "../../rules/webhooks.js";
import { insertStatements, updateStatements } from "./write-rows.js";

/**
 * Writes all changes, or rejects. Returns the keys that were left out because they are taken. If several
 * statements are necessary, writes only the columns in which a payment differs from its `locked` form.
 */
export async function saveChanges(
  tx: Transaction,
  db: Database,
  changes: Changes,
  locked?: Locked,
): Promise<Saved> {
  if (tx.sync) {
    const takenEventKeys = await tx.sync((sync) => sync.save(changes));
    const others = { ...changes, updated: [], webhooks: [], copies: [], events: [] };
    const isDone = Object.values(others).every((list) => list.length === 0);
    const { takenClientIds } = isDone ? { takenClientIds: [] } : await saveInSteps(tx, db, others);
    return { takenClientIds, takenEventKeys };
  }
  if (!db.dialect.takesLists || !fitsOneStatement(changes)) return saveInSteps(tx, db, changes, locked);
  return { takenClientIds: [], takenEventKeys: await saveInOneStatement(tx, db, changes) };
}

async function saveInSteps(tx: Transaction, db: Database, changes: Changes, locked?: Locked): Promise<Saved> {
  const { created = [], updated = [], webhooks = [], copies = [], rematched = [], events = [] } = changes;
  if (db.dialect.hasSeveralWriters) await markReferences(tx, db, [...created, ...updated], locked);
  await updatePayments(tx, db, updated, locked?.payments);
  const takenClientIds = await insertPayments(tx, db, created);
  const takenEventKeys = await insertWebhooks(tx, db, webhooks);
  await countCopies(tx, db, copies);
  await updateRematched(tx, db, rematched);
  await markRaised(tx, db, changes);
  await insertResolutions(tx, db, changes.resolutions ?? []);
  await markResolved(tx, db, resolvedBy(changes));
  await writeNotes(tx, db, changes.notes ?? []);
  await insertEvents(tx, db, events);
  return { takenClientIds, takenEventKeys };
}

/**
 * Writes a row for each reference with several attempts or, without `locked`, for each reference. In a
 * cluster whose servers all accept writes, a server does not see another server's locks. If two attempts
 * complete at the same time on two servers, only this common row makes one of the transactions fail.
 */
async function markReferences(
  tx: Transaction,
  { tables }: Database,
  payments: readonly Payment[],
  locked?: Locked,
): Promise<void> {
  const isShared = ({ reference }: Payment): boolean =>
    !locked || locked.payments.filter((other) => other.reference === reference).length > 1;
  const digests = payments
    .filter(isShared)
    .map(({ reference }) => createHash("sha256").update(reference).digest("hex").slice(0, 3));
  for (const digest of [...new Set(digests)].toSorted())
    await tx.run(`replace into ${tables.meta} (name, value) values (?, ?)`, [
      `reference ${digest}`,
      randomUUID(),
    ]);
}

const inOneStatement: readonly string[] = ["updated", "webhooks", "events"] satisfies (keyof Changes)[];

/**
 * Returns whether one statement can write the changes, as for nearly every group of webhooks. The parts of a
 * statement have no order. So only `updated`, `webhooks` and `events` may have entries. Each payment must
 * appear once. No payment may close an attempt if another one opens an attempt.
 */
export function fitsOneStatement(changes: Changes): boolean {
  const { updated = [] } = changes;
  return (
    Object.entries(changes).every(([name, list]) => list.length === 0 || inOneStatement.includes(name)) &&
    updated.every(({ open }) => open === updated[0]!.open) &&
    new Set(updated.map(({ clientId }) => clientId)).size === updated.length
  );
}

/** Writes the changes in one round trip. Returns the eventKeys of webhooks that were left out. */
async function saveInOneStatement(
  tx: Transaction,
  db: Database,
  { updated = [], webhooks = [], events = [] }: Changes,
): Promise<string[]> {
  const { dialect } = db;
  const [update] = updateStatements(dialect, changedPaymentsBatch(db, updated));
  const [insert] = insertStatements(dialect, webhooksBatch(db, webhooks));
  const [raise] = insertStatements(dialect, eventsBatch(db, events));
  const parts = [
    update && { ...update, sql: `changed as (${update.sql} returning 1)` },
    insert && { ...insert, sql: `stored as (${insert.sql} on conflict do nothing returning receipt_id)` },
    raise && { ...raise, sql: `raised as (${raise.sql})` },
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return [];
  const { rows } = await tx.run<{ changed: unknown; stored: string[] | null }>(
    `with ${parts.map(({ sql }) => sql).join(", ")} select ${update ? "(select count(*) from changed)" : "0"} as changed,
      ${insert ? "(select array_agg(receipt_id) from stored)" : "null"} as stored`,
    parts.flatMap(({ params }) => params),
  );
  expectUpdated(tx, updated.length, Number(rows[0]!.changed));
  const stored = new Set(rows[0]!.stored);
  return webhooks.filter(({ receiptId }) => !stored.delete(receiptId)).map(({ eventKey }) => eventKey);
}

/**
 * Writes changes that {@link fitsOneStatement} accepts, without reading a result before the commit. Rejects
 * if a webhook is taken. The payments must be locked. Gives all statements to the connection before it
 * returns. If the database cannot write several tables in one statement, there is at least one statement for
 * each table.
 */
export async function saveOrFail(
  tx: Transaction,
  db: Database,
  { updated = [], webhooks = [], events = [] }: Changes,
  { payments }: Pick<Locked, "payments">,
): Promise<void> {
  const { dialect } = db;
  const changed = differingPaymentsBatch(db, updated, payments);
  const parts = [
    ...(changed.columns.length > 1 ? updateStatements(dialect, changed) : []),
    ...insertStatements(dialect, webhooksBatch(db, webhooks)),
    ...insertStatements(dialect, eventsBatch(db, events)),
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
