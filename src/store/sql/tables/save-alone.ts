import { TillkitError } from "../../../errors/index.js";
import { type Payment } from "../../../payment.js";
import { type Changes, type EventRecord } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type TxAtOnce } from "../sql-tx.js";
import { eventsBatch } from "./events.js";
import { insertDispatches } from "./expand-events.js";
import { type Tables } from "./names.js";
import { paymentValues, settable } from "./payments.js";
import { copiesStatements, webhooksBatch } from "./webhooks.js";
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
  const latest = [...new Map(updated.map((payment) => [payment.clientId, payment])).values()];
  // Those that close an attempt go first: the one that opens needs the reference free.
  for (const isOpen of [false, true])
    updateWhatChanged(
      tx,
      tables,
      latest.filter(({ open }) => open === isOpen),
    );
  let taken: string[] = [];
  if (webhooks.length > 0) {
    const batch = webhooksBatch(tables, webhooks);
    const results = tx.runEach(`${insertInto(batch, 1)} on conflict do nothing`, batch.rows);
    taken = webhooks.filter((_, index) => results[index]!.affected === 0).map(({ eventKey }) => eventKey);
  }
  for (const { sql, params } of copiesStatements(dialect, tables, copies)) tx.run(sql, params);
  if (events.length > 0) insertExpanded(tx, dialect, tables, events);
  return taken;
}

/**
 * Events with their dispatches. Nobody can be remembering a handler meanwhile, so they need not be marked and expanded
 * later: that wrote the row of each event a second time, and two pages more for a lone webhook.
 */
function insertExpanded(
  tx: TxAtOnce,
  dialect: Dialect,
  tables: Tables,
  events: readonly EventRecord[],
): void {
  const batch = eventsBatch(tables, events, null);
  tx.runEach(insertInto(batch, 1), batch.rows);
  const handlers = tx.run<{ event: string }>(`select distinct event from ${tables.handlers}`, []);
  const handled = new Set(handlers.rows.map(({ event }) => event));
  const wanted = handled.has("*") ? events : events.filter(({ type }) => handled.has(type));
  if (wanted.length === 0) return;
  const which = dialect.among(
    "id",
    wanted.map(({ id }) => id),
  );
  tx.run(`${insertDispatches(dialect, tables, tables.events)} where e.${which.sql}`, which.params);
}

/**
 * Sets the columns that differ from what the lock read, or all of a payment that it did not read. SQLite writes an index
 * for every column that is set, whether its value is another or not: the one of the service ids was a page for each webhook.
 */
function updateWhatChanged(tx: TxAtOnce, tables: Tables, payments: readonly Payment[]): void {
  /** The values to set, by which columns they are for: a bit for each. */
  const alike = new Map<number, unknown[][]>();
  for (const payment of payments) {
    const { clientId } = payment;
    const values = paymentValues(payment);
    const stored = tx.stored.get(clientId);
    tx.stored.delete(clientId);
    const params: unknown[] = [];
    let columns = 0;
    for (const [bit, { column, index }] of settable.entries()) {
      if (stored && stored[column] === values[index]) continue;
      columns |= 1 << bit;
      params.push(values[index]);
    }
    if (columns === 0) continue;
    params.push(clientId);
    const others = alike.get(columns);
    if (others) others.push(params);
    else alike.set(columns, [params]);
  }
  for (const [columns, params] of alike) {
    const set = settable
      .filter((_, bit) => (columns & (1 << bit)) !== 0)
      .map(({ column }) => `${column} = ?`);
    const sql = `update ${tables.payments} set ${set.join(", ")} where client_id = ?`;
    const missing = tx.runEach(sql, params).filter(({ affected }) => affected === 0).length;
    if (missing > 0)
      throw new TillkitError("store_conflict", `${missing} of the updated payments are not in the store.`);
  }
}
