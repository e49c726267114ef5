import { type Payment } from "../../../model/payment.js";
import { type Locked, type LockKeys } from "../../payment-store.js";
import { type Dialect, type Fragment } from "../dialect.js";
import { type KitTx, type Session } from "../sql-tx.js";
import { lockAlone } from "../sqlite/synchronous/lock-alone.js";
import { type Tables } from "./names.js";
import { paymentColumns, paymentOf, type PaymentRow } from "./payments.js";

/** Locks what the keys name, and tells which eventKeys are recorded. */
export async function lockKeys(tx: KitTx, dialect: Dialect, tables: Tables, keys: LockKeys): Promise<Locked> {
  if (tx.atOnce) return tx.atOnce((now) => lockAlone(now, dialect, tables, keys));
  // What is sent ahead has no look in front of it: nearly always the clientIds name all that there is.
  let clientIds = tx.startAgain && (keys.clientIds ?? []);
  for (;;) {
    const locking = lockPayments(tx, dialect, tables, keys, clientIds);
    // The look must come behind the locks; where statements are ordered, it need not be sent behind their answer.
    if (!tx.isOrdered) await locking;
    const looking = look(tx, dialect, tables, keys);
    const [payments, seen] = await Promise.all([locking, looking]);
    const locked = new Set(payments.map(({ clientId }) => clientId));
    // Otherwise its holder added an attempt for the same reference while this transaction waited for a lock.
    if (seen.clientIds.every((id) => locked.has(id))) return { payments, eventKeys: seen.eventKeys };
    if (!clientIds) continue;
    // Locked on top of others they would not be in clientId order, and whoever locks in order would be waited for, and wait.
    tx.startAgain!().catch(() => undefined); // Told by the statements behind it.
    clientIds = seen.clientIds;
  }
}

/** What the keys name and its siblings, as it is committed. Locks nothing, and waits for nothing. */
export async function findNamedPayments(
  reader: Session,
  dialect: Dialect,
  tables: Tables,
  keys: LockKeys,
): Promise<Payment[]> {
  const columns = paymentColumns.map((column) => `p.${column}`).join(", ");
  const named = namedPayments(dialect, tables, keys, columns);
  if (!named) return [];
  const { rows } = await reader.run<PaymentRow>(named.sql, named.params);
  // A reference that two keys lead to is joined twice.
  return [...new Map(rows.map((row) => [row.client_id, row])).values()].map(paymentOf);
}

/**
 * A query for the named payments and their siblings, by their clientIds alone or whole; nothing where no key is given. One
 * that several keys lead to may be answered several times.
 */
function namedPayments(
  dialect: Dialect,
  { payments }: Tables,
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
      : // Joins, and no list of references to be joined with: MySQL makes a table of such a list first.
        union(`select ${columns} from ${payments} n join ${payments} p on p.reference = n.reference`),
    params: branches.flatMap(({ params }) => params),
  };
}

async function lockPayments(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  keys: LockKeys,
  clientIds: readonly string[] | undefined,
): Promise<Payment[]> {
  if (dialect.amongRows) {
    const whole = namedPayments(dialect, tables, keys, paymentColumns.join(", "));
    if (!whole) return [];
    const { rows } = await tx.run<PaymentRow>(
      `${whole.sql} order by client_id ${dialect.forUpdate}`,
      whole.params,
    );
    return rows.map(paymentOf);
  }
  let ids = clientIds;
  if (!ids) {
    const named = namedPayments(dialect, tables, keys);
    if (!named) return [];
    ids = (await tx.run<{ client_id: string }>(named.sql, named.params)).rows.map((row) => row.client_id);
  }
  if (ids.length === 0) return [];
  // Given the ids themselves, the scan is over the primary key, and so in clientId order.
  const hint = dialect.locksInScanOrder ? "force index (primary)" : "";
  const which = dialect.among("client_id", ids.toSorted());
  const { rows } = await tx.run<PaymentRow>(
    `select ${paymentColumns.join(", ")} from ${tables.payments} ${hint} where ${which.sql}
      order by client_id ${dialect.forUpdate}`,
    which.params,
  );
  return rows.map(paymentOf);
}

/** What is committed or written by this transaction now: the named payments, and the recorded eventKeys. */
async function look(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  keys: LockKeys,
): Promise<{ clientIds: string[]; eventKeys: string[] }> {
  const { eventKeys = [] } = keys;
  const parts: Fragment[] = [];
  const named = namedPayments(dialect, tables, keys, "'payment' as kind, p.client_id as id");
  if (named) parts.push(named);
  if (eventKeys.length > 0) {
    const among = dialect.among("event_key", eventKeys);
    parts.push({
      sql: `select 'webhook' as kind, event_key as id from ${tables.webhooks} where ${among.sql}`,
      params: among.params,
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
