import { hasCode, TillkitError } from "../../../../errors/index.js";
import { type Payment } from "../../../../model/payment.js";
import { type EventRecord, type WebhookRecord } from "../../../contract.js";
import { type SyncTx } from "../../driver/driver.js";
import { isUnlisted } from "../../tables/about-client.js";
import { eventsBatch } from "../../tables/events.js";
import { type Database, type Tables } from "../../tables/names.js";
import { paymentValues, settable } from "../../tables/payments.js";
import { copiesStatements, webhooksBatch } from "../../tables/webhooks.js";
import { type Batch, insertInto } from "../../tables/write-rows.js";
import { type SqliteConnection } from "../connection.js";
import { sqliteDialect } from "../sqlite-dialect.js";

/** The parts of one transaction that `saveSync` needs. */
export interface SaveContext {
  connection: SqliteConnection;
  statements: ReturnType<typeof saveStatements>;
  /** The values of payments that the transaction has read and not yet written, by clientId. */
  read: Map<string, readonly unknown[]>;
}

/**
 * Writes the usual kinds of changes. Returns the eventKeys of webhooks whose eventKey or receiptId is taken.
 */
export function saveSync(
  tx: SaveContext,
  { updated = [], webhooks = [], copies = [], events = [] }: Parameters<SyncTx["save"]>[0],
): string[] {
  const latest = [...new Map(updated.map((payment) => [payment.clientId, payment])).values()];
  // Payments that close an attempt go first, because the attempt that opens needs the reference.
  for (const isOpen of [false, true])
    for (const payment of latest) if (payment.open === isOpen) update(tx, payment);
  const taken = webhooks.length + events.length > 0 ? insertNumbered(tx, webhooks, events) : [];
  if (copies.length > 0)
    for (const { sql, params } of copiesStatements(tx.statements.db, copies)) tx.connection.run(sql, params);
  return taken;
}

function insertNumbered(
  tx: SaveContext,
  webhooks: readonly WebhookRecord[],
  events: readonly EventRecord[],
): string[] {
  const { connection, statements } = tx;
  const newest = Number(connection.run(statements.newestSeq, []).rows[0]!["seq"]);
  const { taken, unlisted } = insertNumberedWebhooks(tx, webhooks, newest + 1);
  const numbers = numberEvents(events, unlisted, newest + webhooks.length + 1);
  for (const [index, row] of eventsBatch(statements.db, events).rows.entries()) {
    const { seq, isOfWebhook } = numbers[index]!;
    connection.write(statements.insertEvent, [seq, ...row, isOfWebhook ? 1 : null]);
  }
  return taken;
}

/**
 * Inserts webhooks with numbers from `first` on. Returns the eventKeys that are taken. Also returns, by
 * clientId, the numbers of the webhooks that are not in the index by clientId.
 */
function insertNumberedWebhooks(
  { connection, statements }: SaveContext,
  webhooks: readonly WebhookRecord[],
  first: number,
): { taken: string[]; unlisted: Map<string, number> } {
  const taken: string[] = [];
  const unlisted = new Map<string, number>();
  for (const [index, row] of webhooksBatch(statements.db, webhooks).rows.entries()) {
    const webhook = webhooks[index]!;
    const seq = first + index;
    const isFoundByKey = isUnlisted(webhook);
    try {
      connection.write(statements.insertWebhook, [seq, ...row, isFoundByKey ? 1 : null]);
      if (isFoundByKey) unlisted.set(webhook.clientId!, seq);
    } catch (error) {
      // The failure undoes only this statement. A check of each written row would take longer.
      if (!hasCode(sqliteDialect.translate(error), "store_conflict")) throw error;
      taken.push(webhook.eventKey);
    }
  }
  return { taken, unlisted };
}

/**
 * Returns numbers for events in their order, and whether a webhook of the same payment has the same number.
 * An event gets the number of the webhook that caused it, if that keeps the order. A search that finds the
 * webhook then finds the event, too. An index by clientId would cost a page for each event. The other events
 * get fresh numbers.
 *
 * @param ofWebhooks - For each clientId, the number of a webhook that its eventKey finds. Used numbers are
 * removed.
 * @param fresh - The first number that neither a webhook nor an event has.
 */
export function numberEvents(
  events: readonly EventRecord[],
  ofWebhooks: Map<string, number>,
  fresh: number,
): { seq: number; isOfWebhook: boolean }[] {
  let last = 0;
  return events.map(({ clientId }) => {
    const shared = clientId === undefined ? undefined : ofWebhooks.get(clientId);
    const isOfWebhook = shared !== undefined && shared > last;
    if (isOfWebhook) ofWebhooks.delete(clientId!);
    last = isOfWebhook ? shared : fresh++;
    return { seq: last, isOfWebhook };
  });
}

/** Returns the statements of {@link saveSync}. The text of the statements is made once for each store. */
export function saveStatements(tables: Tables) {
  const db: Database = { dialect: sqliteDialect, tables };
  return {
    db,
    /** The updates, by the columns that they set, with one bit for each settable column. */
    updates: new Map<number, string>(),
    otherOpen: `select 1 from ${tables.payments} where reference = ? and open_reference is not null and client_id <> ?`,
    /** Numbers above the result are free in both tables. */
    newestSeq: `select max(ifnull((select max(seq) from ${tables.webhooks}), 0), ifnull((select max(seq) from ${tables.events}), 0))
    as seq`,
    insertWebhook: insertNumberedInto(webhooksBatch(db, [])),
    insertEvent: insertNumberedInto(eventsBatch(db, [])),
  };
}

/** Returns an insert of one row. The number comes first, and `unlisted` comes last. */
function insertNumberedInto({ table, columns }: Batch): string {
  return insertInto({ table, columns: ["seq", ...columns, "unlisted"] }, 1);
}

/** The bit of the column that contains whether a payment is open. */
const openBit = 1 << settable.findIndex(({ column }) => column === "open_reference");

/**
 * Sets the columns that differ from the values that the lock read. Sets all columns if the lock did not read
 * the payment. SQLite writes the index of every column that is set, even if the value stays the same.
 */
function update(tx: SaveContext, payment: Payment): void {
  const { connection, read } = tx;
  const { clientId } = payment;
  const values = paymentValues(payment);
  const stored = read.get(clientId);
  read.delete(clientId);
  const params: unknown[] = [];
  let columns = 0;
  for (let bit = 0; bit < settable.length; bit++) {
    const { index } = settable[bit]!;
    if (stored && stored[index] === values[index]) continue;
    columns |= 1 << bit;
    params.push(values[index]);
  }
  if (columns === 0) return;
  if (payment.open && (columns & openBit) !== 0) expectFree(tx, payment);
  params.push(clientId);
  const sql = updateOf(tx, columns);
  // If the lock has read the payment, its row exists, so the updated rows are not counted.
  if (stored) connection.write(sql, params);
  else if (connection.run(sql, params).affected === 0)
    throw new TillkitError("store_conflict", "One of the updated payments is not in the store.");
}

/** Throws `store_conflict` if another payment of the reference is open. A trigger checks new payments. */
function expectFree({ connection, statements }: SaveContext, { clientId, reference }: Payment): void {
  if (connection.run(statements.otherOpen, [reference, clientId]).rows.length > 0)
    throw new TillkitError(
      "store_conflict",
      "Another payment is open for the reference of an updated payment.",
    );
}

function updateOf({ statements: { db, updates } }: SaveContext, columns: number): string {
  let sql = updates.get(columns);
  if (sql === undefined) {
    const set = settable
      .filter((_, bit) => (columns & (1 << bit)) !== 0)
      .map(({ column }) => `${column} = ?`);
    sql = `update ${db.tables.payments} set ${set.join(", ")} where client_id = ?`;
    updates.set(columns, sql);
  }
  return sql;
}
