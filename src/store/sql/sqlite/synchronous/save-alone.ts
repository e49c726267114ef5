import { hasCode, TillkitError } from "../../../../errors/index.js";
import { type Payment } from "../../../../model/payment.js";
import { type Changes, type EventRecord, type WebhookRecord } from "../../../payment-store.js";
import { type Dialect } from "../../dialect.js";
import { type TxAtOnce } from "../../sql-tx.js";
import { isUnlisted } from "../../tables/about-client.js";
import { numberEvents } from "./event-numbers.js";
import { eventsBatch } from "../../tables/events.js";
import { type Tables } from "../../tables/names.js";
import { paymentValues, settable } from "../../tables/payments.js";
import { textsOf } from "./texts.js";
import {
  copiesStatements,
  isPlain,
  plainColumns,
  plainValues,
  webhooksBatch,
} from "../../tables/webhooks.js";
import { insertInto } from "../../tables/write-rows.js";
import { type Batch } from "../../tables/batch.js";

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
  const taken =
    webhooks.length + events.length > 0 ? insertNumbered(tx, dialect, tables, webhooks, events) : [];
  if (copies.length > 0)
    for (const { sql, params } of copiesStatements(dialect, tables, copies)) tx.run(sql, params);
  return taken;
}

function insertNumbered(
  tx: TxAtOnce,
  dialect: Dialect,
  tables: Tables,
  webhooks: readonly WebhookRecord[],
  events: readonly EventRecord[],
): string[] {
  const texts = textsOfSaves(tables, dialect);
  const newest = tx.run<{ seq: number }>(texts.newestSeq, []).rows[0]!.seq;
  const { taken, unlisted } = insertWebhooks(tx, dialect, tables, webhooks, newest + 1);
  const numbers = numberEvents(events, unlisted, newest + webhooks.length + 1);
  for (const [index, row] of eventsBatch(tables, dialect, events).rows.entries()) {
    const { seq, isOfWebhook } = numbers[index]!;
    tx.writeEach(texts.insertEvent, [[seq, ...row, isOfWebhook ? 1 : null]]);
  }
  return taken;
}

/** Numbered from `first` on. Answers the numbers of those that are found by their clientId without an index by it, by that. */
function insertWebhooks(
  tx: TxAtOnce,
  dialect: Dialect,
  tables: Tables,
  webhooks: readonly WebhookRecord[],
  first: number,
): { taken: string[]; unlisted: Map<string, number> } {
  const texts = textsOfSaves(tables, dialect);
  const taken: string[] = [];
  const unlisted = new Map<string, number>();
  for (const [index, webhook] of webhooks.entries()) {
    const seq = first + index;
    try {
      if (isPlain(webhook)) {
        const isFoundByKey = isUnlisted(webhook);
        tx.writeEach(texts.insertPlainWebhook, [[seq, ...plainValues(webhook), isFoundByKey ? 1 : null]]);
        if (isFoundByKey) unlisted.set(webhook.clientId!, seq);
      } else tx.writeEach(texts.insertWebhook, [[seq, ...webhooksBatch(tables, [webhook]).rows[0]!]]);
    } catch (error) {
      // Which undoes the statement, and no more. To ask for no error, and of each row whether it was written, cost a seventh.
      if (!hasCode(dialect.translate(error), "store_conflict")) throw error;
      taken.push(webhook.eventKey);
    }
  }
  return { taken, unlisted };
}

type Texts = ReturnType<typeof textsOfSaves>;

const textsOfSaves = textsOf((tables, dialect) => ({
  /** By which columns they set: a bit for each of those that may be set. */
  updates: new Map<number, string>(),
  update: `update ${tables.payments} set`,
  otherOpen: `select 1 from ${tables.payments} where reference = ? and open_reference is not null and client_id <> ?`,
  /** Above it the numbers of both are free. */
  newestSeq: `select max(ifnull((select max(seq) from ${tables.webhooks}), 0), ifnull((select max(seq) from ${tables.events}), 0))
    as seq`,
  insertPlainWebhook: insertNumberedInto({ table: tables.webhooks, columns: [...plainColumns, "unlisted"] }),
  insertWebhook: insertNumberedInto(webhooksBatch(tables, [])),
  insertEvent: insertNumberedInto({
    table: tables.events,
    columns: [...eventsBatch(tables, dialect, []).columns, "unlisted"],
  }),
}));

/** An insert of one row, its number in front. */
function insertNumberedInto({ table, columns }: Pick<Batch, "table" | "columns">): string {
  return insertInto({ table, columns: ["seq", ...columns] }, 1);
}

/** The bit of the column that says whether a payment is open. */
const setsOpen = 1 << settable.findIndex(({ column }) => column === "open_reference");

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
    if (payment.open && (columns & setsOpen) !== 0) expectFree(tx, texts, payment);
    params.push(clientId);
    const sql = updateOf(columns, texts);
    // What was read under the lock is there.
    if (stored) tx.writeEach(sql, [params]);
    else if (tx.run(sql, params).affected === 0)
      throw new TillkitError("store_conflict", "One of the updated payments is not in the store.");
  }
}

/** What the trigger of new payments sees to, for one that is opened by an update. */
function expectFree(tx: TxAtOnce, texts: Texts, { clientId, reference }: Payment): void {
  if (tx.run(texts.otherOpen, [reference, clientId]).rows.length > 0)
    throw new TillkitError("store_conflict", "Another payment is open for the reference of an updated one.");
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
