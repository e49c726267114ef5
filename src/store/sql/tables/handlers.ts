import { type HandlerKey, type RetireOptions } from "../../payment-store.js";
import { allOf } from "../dialect.js";
import { type Session } from "../sql-tx.js";
import { type Transaction } from "../transaction.js";
import { type Database } from "./names.js";
import { expandAll } from "./expand-events.js";
import { insertAll } from "./write-rows.js";

/** Returns the handlers that the store does not know yet. */
export async function unknownHandlers(
  session: Session,
  { tables }: Database,
  handlers: readonly HandlerKey[],
): Promise<HandlerKey[]> {
  const { rows } = await session.run<HandlerKey>(`select event, name from ${tables.handlers}`, []);
  const known = new Set(rows.map(handlerId));
  const unknown = new Map(handlers.map((handler) => [handlerId(handler), handler]));
  return [...unknown].filter(([id]) => !known.has(id)).map(([, handler]) => handler);
}

/**
 * Stores handlers. Committed events first get dispatches for the handlers that are known so far: a new handler starts with the
 * events after it.
 */
export async function storeHandlers(
  tx: Transaction,
  db: Database,
  handlers: readonly HandlerKey[],
): Promise<void> {
  const { dialect, tables } = db;
  await keepExpansionsOut(tx, db);
  const unknown = await unknownHandlers(tx, db, handlers);
  if (unknown.length === 0) return;
  await expandAll(tx, db);
  const rows = unknown.map(({ event, name }) => [event, name]);
  await insertAll(tx, dialect, { table: tables.handlers, columns: ["event", "name"], rows });
}

/** Deletes handlers of a name. Committed events first get their dispatches for it, which are then retired as well. */
export async function deleteHandlers(
  tx: Transaction,
  db: Database,
  { handler, event }: Pick<RetireOptions, "handler" | "event">,
): Promise<void> {
  await keepExpansionsOut(tx, db);
  await expandAll(tx, db);
  const which = allOf([
    { sql: "name = ?", params: [handler] },
    { sql: "event = ?", params: [event] },
  ]);
  await tx.run(`delete from ${db.tables.handlers} where ${which.sql}`, which.params);
}

/** Keeps out every expansion until the end, also of other processes: none may see half of the handlers. */
async function keepExpansionsOut(tx: Transaction, { dialect, tables }: Database): Promise<void> {
  if (dialect.forUpdate !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forUpdate}`, []);
}

/** Returns one string for a handler; event names have no space. */
export function handlerId({ event, name }: HandlerKey): string {
  return `${event} ${name}`;
}
