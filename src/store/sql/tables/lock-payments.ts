import { type Payment } from "../../../model/payment.js";
import { type Locked, type LockKeys } from "../../contract.js";
import { type Fragment } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { paymentColumns, paymentFromRow, type PaymentRow } from "./payments.js";

/** Locks the payments with these keys. Returns the payments, and the eventKeys that are already stored. */
export async function lockKeys(tx: Transaction, db: Database, keys: LockKeys): Promise<Locked> {
  if (tx.sync) return tx.sync((sync) => sync.lock(keys));
  if (keys.readOnly) return { payments: await findNamedPayments(tx, db, keys), eventKeys: [] };
  // In a pipeline, nothing is read before the locks, because the clientIds nearly always name every payment.
  let clientIds = tx.restart && (keys.clientIds ?? []);
  for (;;) {
    const locking = lockPayments(tx, db, keys, clientIds);
    // The database must run the check after the locks. A pipeline keeps that order without waiting.
    if (!tx.isPipelined) await locking;
    const checking = findNamed(tx, db, keys);
    // After a deadlock, a pipeline refuses the check, too. Only the error of the locks shows the deadlock.
    checking.catch(() => undefined);
    const payments = await locking;
    const named = await checking;
    const locked = new Set(payments.map(({ clientId }) => clientId));
    // Otherwise, another transaction added an attempt of the same reference during the wait for a lock, or
    // the given clientIds did not name every payment.
    if (named.clientIds.every((id) => locked.has(id))) return { payments, eventKeys: named.eventKeys };
    if (!clientIds) continue;
    // Additional locks would break the clientId order, and could deadlock with a transaction that locks in
    // this order.
    tx.restart!().catch(() => undefined); // The next statements report its failure.
    clientIds = named.clientIds;
  }
}

/** Reads the committed payments with these keys, and all payments of the same references. Locks nothing. */
export async function findNamedPayments(reader: Session, db: Database, keys: LockKeys): Promise<Payment[]> {
  const columns = paymentColumns.map((column) => `p.${column}`).join(", ");
  const named = namedPayments(db, keys, columns);
  if (!named) return [];
  const { rows } = await reader.run<PaymentRow>(named.sql, named.params);
  // If two keys lead to one reference, the query returns its payments twice.
  return [...new Map(rows.map((row) => [row.client_id, row])).values()].map(paymentFromRow);
}

/**
 * Returns a query for these columns of the payments that the keys name, and of all payments of the same
 * references. The query may return a payment several times. Returns `undefined` if no key is given.
 */
function namedPayments(
  { dialect, tables: { payments } }: Database,
  keys: LockKeys,
  columns = "p.client_id",
): Fragment | undefined {
  const by = [
    { column: "client_id", values: keys.clientIds ?? [] },
    { column: "service_id", values: keys.serviceIds ?? [] },
    { column: "reference", values: keys.references ?? [] },
  ].filter(({ values }) => values.length > 0);
  if (by.length === 0) return undefined;
  const branches = by.map(({ column, values }) => dialect.among(`n.${column}`, values));
  const union = (begin: string): string =>
    branches.map(({ sql }) => `${begin} where ${sql}`).join(" union all ");
  return {
    sql: dialect.amongRows
      ? `select ${columns} from ${payments} p
        where ${dialect.amongRows("p.reference", union(`select n.reference from ${payments} n`))}`
      : // A join, because MySQL would first make a table of a list of references.
        union(`select ${columns} from ${payments} n join ${payments} p on p.reference = n.reference`),
    params: branches.flatMap(({ params }) => params),
  };
}

/**
 * Locks the payments with these keys. Uses `clientIds` instead, if given, unless the dialect has `amongRows`.
 * Locks in clientId order.
 */
async function lockPayments(
  tx: Transaction,
  db: Database,
  keys: LockKeys,
  clientIds: readonly string[] | undefined,
): Promise<Payment[]> {
  const { dialect, tables } = db;
  const lock = async ({ sql, params }: Fragment): Promise<Payment[]> => {
    const { rows } = await tx.run<PaymentRow>(`${sql} order by client_id ${dialect.forUpdate}`, params);
    return rows.map(paymentFromRow);
  };
  if (dialect.amongRows) {
    const named = namedPayments(db, keys, paymentColumns.join(", "));
    return named ? lock(named) : [];
  }
  let ids = clientIds;
  if (!ids) {
    const named = namedPayments(db, keys);
    if (!named) return [];
    ids = (await tx.run<{ client_id: string }>(named.sql, named.params)).rows.map((row) => row.client_id);
  }
  if (ids.length === 0) return [];
  // A scan over the primary key is in clientId order.
  const hint = dialect.locksInScanOrder ? "force index (primary)" : "";
  const { sql, params } = dialect.among("client_id", ids.toSorted());
  return lock({
    sql: `select ${paymentColumns.join(", ")} from ${tables.payments} ${hint} where ${sql}`,
    params,
  });
}

/** Reads the clientIds that the keys name now, and the stored ones among the eventKeys. */
async function findNamed(
  tx: Transaction,
  db: Database,
  keys: LockKeys,
): Promise<{ clientIds: string[]; eventKeys: string[] }> {
  const { eventKeys = [] } = keys;
  const parts: Fragment[] = [];
  const named = namedPayments(db, keys, "'payment' as kind, p.client_id as id");
  if (named) parts.push(named);
  if (eventKeys.length > 0) {
    const { sql, params } = db.dialect.among("event_key", eventKeys);
    parts.push({
      sql: `select 'webhook' as kind, event_key as id from ${db.tables.webhooks} where ${sql}`,
      params,
    });
  }
  if (parts.length === 0) return { clientIds: [], eventKeys: [] };
  const { rows } = await tx.run<{ kind: string; id: string }>(
    parts.map(({ sql }) => sql).join(" union all "),
    parts.flatMap(({ params }) => params),
  );
  const idsOf = (kind: string): string[] => rows.filter((row) => row.kind === kind).map((row) => row.id);
  return { clientIds: idsOf("payment"), eventKeys: idsOf("webhook") };
}
