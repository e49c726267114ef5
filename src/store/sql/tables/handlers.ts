import { type HandlerKey } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type KitTx, type Session } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { expandAll } from "./expand-events.js";
import { insertAll } from "./write-rows.js";

/** Those of the handlers that the store does not remember yet. */
export async function unknownHandlers(
  session: Session,
  tables: Tables,
  handlers: readonly HandlerKey[],
): Promise<HandlerKey[]> {
  const { rows } = await session.run<HandlerKey>(`select event, name from ${tables.handlers}`, []);
  const known = new Set(rows.map(handlerId));
  const unknown = new Map(handlers.map((handler) => [handlerId(handler), handler]));
  return [...unknown].filter(([id]) => !known.has(id)).map(([, handler]) => handler);
}

/**
 * Remembers handlers. Events that are committed by now are first given to the handlers known so far: a new one starts
 * with those that come after it.
 */
export async function rememberHandlers(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  handlers: readonly HandlerKey[],
): Promise<void> {
  // Keeps every expansion out until the end, in this process and in others: none may see half of the handlers.
  if (dialect.forUpdate !== "")
    await tx.run(`select value from ${tables.meta} where name = 'handlers' ${dialect.forUpdate}`, []);
  const unknown = await unknownHandlers(tx, tables, handlers);
  if (unknown.length === 0) return;
  await expandAll(tx, dialect, tables);
  const rows = unknown.map(({ event, name }) => [event, name]);
  await insertAll(tx, dialect, { table: tables.handlers, columns: ["event", "name"], rows });
}

/** One text for a handler; event names have no space. */
export function handlerId({ event, name }: HandlerKey): string {
  return `${event} ${name}`;
}
