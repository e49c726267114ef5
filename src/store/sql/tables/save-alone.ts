import { hasCode, TillkitError } from "../../../errors/index.js";
import { type Payment } from "../../../payment.js";
import { type Changes } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type TxAtOnce } from "../sql-tx.js";
import { eventsBatch } from "./events.js";
import { type Tables } from "./names.js";
import { paymentValues, settable } from "./payments.js";
import { textsOf } from "./texts.js";
import { copiesStatements, isPlain, plainColumns, plainValues, webhooksBatch } from "./webhooks.js";
import { insertInto } from "./write-rows.js";

const lists: readonly (keyof Changes)[] = ["updated", "webhooks", "copies", "events"];

/** Whether {@link saveAlone} writes all of it. */
export function canSaveAlone(changes: Changes): boolean {
  return Object.entries(changes).every(
    ([name, list]) => list.length === 0 || lists.includes(name as keyof Changes),
  );
}

/**
 * Writes what nearly every transaction writes, where a transaction has the database to itself. Answers the eventKeys of
 * webhooks that were left out, because their eventKey or receiptId is taken.
 */
export function saveAlone(
  tx: TxAtOnce,
  dialect: Dialect,
  tables: Tables,
  { updated = [], webhooks = [], copies = [], events = [] }: Changes,
): string[] {
  const texts = textsOfSaves(tables, dialect);
  const latest = [...new Map(updated.map((payment) => [payment.clientId, payment])).values()];
  // Those that close an attempt go first: the one that opens needs the reference free.
  for (const isOpen of [false, true])
    updateWhatChanged(
      tx,
      texts,
      latest.filter(({ open }) => open === isOpen),
    );
  const taken: string[] = [];
  for (const webhook of webhooks) {
    try {
      if (isPlain(webhook)) tx.writeEach(texts.insertPlainWebhook, [plainValues(webhook)]);
      else tx.writeEach(texts.insertWebhook, webhooksBatch(tables, [webhook]).rows);
    } catch (error) {
      // Which undoes the statement, and no more. To ask for no error, and of each row whether it was written, cost a seventh.
      if (!hasCode(dialect.translate(error), "store_conflict")) throw error;
      taken.push(webhook.eventKey);
    }
  }
  if (copies.length > 0)
    for (const { sql, params } of copiesStatements(dialect, tables, copies)) tx.run(sql, params);
  if (events.length > 0) tx.writeEach(texts.insertEvent, eventsBatch(tables, dialect, events).rows);
  return taken;
}

type Texts = ReturnType<typeof textsOfSaves>;

const textsOfSaves = textsOf((tables, dialect) => ({
  /** By which columns they set: a bit for each of those that may be set. */
  updates: new Map<number, string>(),
  update: `update ${tables.payments} set`,
  insertPlainWebhook: insertInto({ table: tables.webhooks, columns: plainColumns }, 1),
  insertWebhook: insertInto(webhooksBatch(tables, []), 1),
  insertEvent: insertInto(eventsBatch(tables, dialect, []), 1),
}));

/**
 * Sets the columns that differ from what the lock read, or all of a payment that it did not read. SQLite writes an index
 * for every column that is set, whether its value is another or not: the one of the service ids was a page for each webhook.
 */
function updateWhatChanged(tx: TxAtOnce, texts: Texts, payments: readonly Payment[]): void {
  for (const payment of payments) {
    const { clientId } = payment;
    const values = paymentValues(payment);
    const stored = tx.stored.get(clientId);
    tx.stored.delete(clientId);
    const params: unknown[] = [];
    let columns = 0;
    for (let bit = 0; bit < settable.length; bit++) {
      const value = values[settable[bit]!.index];
      if (stored && stored[settable[bit]!.index] === value) continue;
      columns |= 1 << bit;
      params.push(value);
    }
    if (columns === 0) continue;
    params.push(clientId);
    const sql = updateOf(columns, texts);
    // What was read under the lock is there.
    if (stored) tx.writeEach(sql, [params]);
    else if (tx.run(sql, params).affected === 0)
      throw new TillkitError("store_conflict", "One of the updated payments is not in the store.");
  }
}

function updateOf(columns: number, { update, updates }: Texts): string {
  let sql = updates.get(columns);
  if (sql === undefined) {
    const set = settable
      .filter((_, bit) => (columns & (1 << bit)) !== 0)
      .map(({ column }) => `${column} = ?`);
    sql = `${update} ${set.join(", ")} where client_id = ?`;
    updates.set(columns, sql);
  }
  return sql;
}
