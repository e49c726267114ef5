import { type Locked, type LockKeys } from "../../../payment-store.js";
import { type Dialect } from "../../dialect.js";
import { type TxAtOnce } from "../../sql-tx.js";
import { type Tables } from "../../tables/names.js";
import { paymentColumns, paymentOf, rowOf } from "../../tables/payments.js";
import { textsOf } from "./texts.js";

/**
 * What `lock` answers where a transaction has the database to itself: nothing changes between two looks, so there may be
 * several, each as simple as can be. Webhooks whose payments are known by their service ids, and have no siblings, need the
 * first one only: for a lone one that takes half of what three of them took, each a search of one index.
 */
export function lockAlone(
  tx: TxAtOnce,
  dialect: Dialect,
  tables: Tables,
  { clientIds = [], serviceIds = [], references = [], eventKeys = [] }: LockKeys,
): Locked {
  const texts = textsOfLooks(tables, dialect);
  const ask = (text: string, ...params: unknown[]): unknown =>
    JSON.parse(tx.run<{ list: string }>(text, params).rows[0]!.list);
  const isLone = clientIds.length === 1 && eventKeys.length === 1;
  const [payments, known] = isLone
    ? (ask(texts.one, clientIds[0], eventKeys[0]) as Found)
    : (ask(texts.several, JSON.stringify(clientIds), JSON.stringify(eventKeys)) as Found);

  const found = new Map<string, readonly never[]>();
  const add = (others: Found[0]): void => {
    for (const payment of others) found.set(payment[0]!, payment);
  };
  add(payments);
  const bound = new Set([...found.values()].map((payment) => payment[placeOfServiceId]));
  const unbound = serviceIds.filter((id) => !bound.has(id as never));
  if (unbound.length > 0) add(ask(texts.serviceIds, JSON.stringify(unbound)) as Found[0]);
  const named: string[] = [...references];
  for (const payment of found.values()) if (payment[placeOfSiblings]) named.push(payment[placeOfReference]!);
  if (named.length > 0) add(ask(texts.references, JSON.stringify(named)) as Found[0]);

  const rows = [...found.values()].map(rowOf);
  if (rows.length > 1) rows.sort((a, b) => (a.client_id < b.client_id ? -1 : 1));
  for (const [clientId, values] of found) tx.stored.set(clientId, values);
  return { payments: rows.map(paymentOf), eventKeys: known };
}

/** Payments, each as the list of its values and whether there are others of its reference; and eventKeys. */
type Found = [payments: (readonly never[])[], eventKeys: string[]];

const placeOfReference = paymentColumns.indexOf("reference");
const placeOfServiceId = paymentColumns.indexOf("service_id");
const placeOfSiblings = paymentColumns.length;

/**
 * What is found comes as JSON, a payment as the list of its values: a driver that makes an object of each row, value by value,
 * takes three times as long, and the names of the values beside each half as long again.
 */
const textsOfLooks = textsOf((t, dialect) => {
  const columns = paymentColumns.map((column) => `p.${column}`).join(", ");
  const hasSiblings = `exists (select 1 from ${t.payments} s where s.reference = p.reference and s.client_id <> p.client_id)`;
  const payments = `select json_group_array(json_array(${columns}, ${hasSiblings})) as list from ${t.payments} p where`;
  const eventKeys = `select json_group_array(event_key) from ${t.webhooks} where`;
  const amongSeveral = (column: string): string => dialect.among(column, ["", ""]).sql;
  const both = (ofPayments: string, ofKeys: string): string =>
    `select '[' || (${payments} ${ofPayments}) || ',' || (${eventKeys} ${ofKeys}) || ']' as list`;
  return {
    one: both("p.client_id = ?", "event_key = ?"),
    several: both(amongSeveral("p.client_id"), amongSeveral("event_key")),
    serviceIds: `${payments} ${amongSeveral("p.service_id")}`,
    references: `${payments} ${amongSeveral("p.reference")}`,
  };
});
