import { type Payment } from "../../../model/payment.js";
import { type PaymentPage } from "../../payment-store.js";
import { type Dialect, marked, pageOf } from "../dialect.js";
import { type Session } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { awaitedStates, paymentColumns, paymentOf, type PaymentRow } from "./payments.js";

export async function findPayment(
  reader: Session,
  tables: Tables,
  clientId: string,
): Promise<Payment | undefined> {
  const sql = `select ${paymentColumns.join(", ")} from ${tables.payments} where client_id = ?`;
  const { rows } = await reader.run<PaymentRow>(sql, [clientId]);
  return rows[0] && paymentOf(rows[0]);
}

export async function duePayments(
  reader: Session,
  dialect: Dialect,
  tables: Tables,
  page: { before: string; after?: { createdAt: string; clientId: string }; limit: number },
): Promise<Payment[]> {
  const { is, at } = marked(dialect, "awaited_since", "created_at");
  const position = page.after ? `and ${at} >= ? and (${at} > ? or client_id > ?)` : "";
  const { after } = page;
  const { rows } = await reader.run<PaymentRow>(
    `select ${paymentColumns.join(", ")} from ${tables.payments} where ${is} ${at} < ? ${position}
      order by ${at}, client_id limit ?`,
    [page.before, ...(after ? [after.createdAt, after.createdAt, after.clientId] : []), page.limit],
  );
  return rows.map(paymentOf);
}

/** The payments that the service may be asked about by now, the longest due first. */
export async function lookupDuePayments(
  reader: Session,
  tables: Tables,
  { before, limit }: { before: string; limit: number },
): Promise<Payment[]> {
  const { rows } = await reader.run<PaymentRow>(
    `select ${paymentColumns.join(", ")} from ${tables.payments} where next_lookup_at < ?
      order by next_lookup_at, client_id limit ?`,
    [before, limit],
  );
  return rows.map(paymentOf);
}

/** One page of a listing; each kind of it has an index in its order. */
export async function listPayments(
  reader: Session,
  dialect: Dialect,
  tables: Tables,
  page: PaymentPage,
): Promise<Payment[]> {
  const { state, reference, from, to, after, newestFirst, limit } = page;
  const [behind, direction] = newestFirst ? ["<", "desc"] : [">", "asc"];
  const conditions: [string, unknown[]][] = [
    ...(state === undefined ? [] : [["state = ?", [state]] as [string, unknown[]]]),
    ...(reference === undefined ? [] : [["reference = ?", [reference]] as [string, unknown[]]]),
    ...(from === undefined ? [] : [["created_at >= ?", [from]] as [string, unknown[]]]),
    ...(to === undefined ? [] : [["created_at < ?", [to]] as [string, unknown[]]]),
    ...(after === undefined
      ? []
      : [
          [
            // The first half is for the index, which the whole condition alone would not be read by.
            `created_at ${behind}= ? and (created_at ${behind} ? or client_id ${behind} ?)`,
            [after.createdAt, after.createdAt, after.clientId],
          ] as [string, unknown[]],
        ]),
  ];
  const params = conditions.flatMap(([, values]) => values);
  const parts = (dialect.sparesIndexes ? partsOf(page) : ["1 = 1"]).map((part) => {
    const where = [part, ...conditions.map(([sql]) => sql)].join(" and ");
    return { sql: `select ${paymentColumns.join(", ")} from ${tables.payments} where ${where}`, params };
  });
  const query = pageOf(dialect, parts, `created_at ${direction}, client_id ${direction}`, limit);
  const { rows } = await reader.run<PaymentRow>(query.sql, query.params);
  return rows.map(paymentOf);
}

/**
 * The indexes to read a page from, by their conditions. The completed payments are in none of their own: they are no small
 * part of all payments, and so soon found among them.
 */
function partsOf({ state, reference }: PaymentPage): string[] {
  if (state === undefined || state === "completed" || reference !== undefined) return ["1 = 1"];
  const settled = "awaited_since is null and state <> 'completed'";
  return awaitedStates.includes(state) ? ["awaited_since is not null", settled] : [settled];
}
