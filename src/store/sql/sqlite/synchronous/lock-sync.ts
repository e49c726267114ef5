import { type Locked, type LockKeys } from "../../../contract.js";
import { type Tables } from "../../tables/names.js";
import { paymentColumns, paymentFrom } from "../../tables/payments.js";
import { type SqliteConnection } from "../connection.js";
import { sqliteDialect } from "../sqlite-dialect.js";

/** The parts of one transaction that `lockSync` needs. */
export interface LockContext {
  connection: Pick<SqliteConnection, "run">;
  statements: ReturnType<typeof lockStatements>;
  /** The values of payments that the transaction has read and not yet written, by clientId. */
  read: Map<string, readonly unknown[]>;
}

/**
 * Reads the payments that the keys name, and the stored ones among the eventKeys. A transaction has the whole
 * database to itself, so several simple queries see the same state. Usually the first query is enough. The
 * query finds the payments of all service ids, and their references have no other payments.
 */
export function lockSync(
  { connection, statements, read }: LockContext,
  { clientIds = [], serviceIds = [], references = [], eventKeys = [] }: LockKeys,
): Locked {
  const ask = (sql: string, ...params: unknown[]): unknown =>
    JSON.parse(connection.run(sql, params).rows[0]!["list"] as string);
  const isSingle = clientIds.length === 1 && eventKeys.length === 1;
  const [named, known] = ask(
    isSingle ? statements.one : statements.several,
    isSingle ? clientIds[0] : JSON.stringify(clientIds),
    isSingle ? eventKeys[0] : JSON.stringify(eventKeys),
  ) as [unknown, string[]];

  const found = new Map<string, FoundPayment>();
  const add = (others: unknown): void => {
    for (const payment of others as FoundPayment[]) found.set(payment[0]!, payment);
  };
  add(named);
  const bound = new Set<string>([...found.values()].map((payment) => payment[serviceIdIndex]!));
  const unbound = serviceIds.filter((id) => !bound.has(id));
  if (unbound.length > 0) add(ask(statements.serviceIds, JSON.stringify(unbound)));
  const shared: string[] = [...references];
  for (const payment of found.values()) if (payment[hasSiblingsIndex]) shared.push(payment[referenceIndex]!);
  if (shared.length > 0) add(ask(statements.references, JSON.stringify(shared)));

  const payments = [...found.values()].map(paymentFrom);
  if (payments.length > 1) payments.sort((a, b) => (a.clientId < b.clientId ? -1 : 1));
  for (const [clientId, values] of found) read.set(clientId, values);
  return { payments, eventKeys: known };
}

/** The values of a payment, and whether other payments have its reference. */
type FoundPayment = readonly never[];

const referenceIndex = paymentColumns.indexOf("reference");
const serviceIdIndex = paymentColumns.indexOf("service_id");
const hasSiblingsIndex = paymentColumns.length;

/**
 * Returns the queries of {@link lockSync}. The queries return JSON, with each payment as a list of values. A
 * driver takes much longer to make an object for each row.
 */
export function lockStatements(t: Tables) {
  const columns = paymentColumns.map((column) => `p.${column}`).join(", ");
  const hasSiblings = `exists (select 1 from ${t.payments} s where s.reference = p.reference and s.client_id <> p.client_id)`;
  const payments = `select json_group_array(json_array(${columns}, ${hasSiblings})) as list from ${t.payments} p where`;
  const eventKeys = `select json_group_array(event_key) from ${t.webhooks} where`;
  const amongSeveral = (column: string): string => sqliteDialect.among(column, ["", ""]).sql;
  const both = (ofPayments: string, ofKeys: string): string =>
    `select '[' || (${payments} ${ofPayments}) || ',' || (${eventKeys} ${ofKeys}) || ']' as list`;
  return {
    one: both("p.client_id = ?", "event_key = ?"),
    several: both(amongSeveral("p.client_id"), amongSeveral("event_key")),
    serviceIds: `${payments} ${amongSeveral("p.service_id")}`,
    references: `${payments} ${amongSeveral("p.reference")}`,
  };
}
