import { awaitedStates, type Payment } from "../../../model/payment.js";
import { type PaymentPage } from "../../contract.js";
import { allOf, type Fragment, orderOfMarked, pageOf } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { type Database } from "./names.js";
import { paymentColumns, paymentFromRow, type PaymentRow } from "./payments.js";

const columns = paymentColumns.join(", ");

/** Reads one payment. */
export async function readPayment(
  reader: Session,
  { tables }: Database,
  clientId: string,
): Promise<Payment | undefined> {
  const [payment] = await read(reader, {
    sql: `select ${columns} from ${tables.payments} where client_id = ?`,
    params: [clientId],
  });
  return payment;
}

/** Reads the payments that can become overdue, oldest first. */
export function duePayments(
  reader: Session,
  { dialect, tables }: Database,
  {
    before,
    after,
    limit,
  }: { before: string; after?: { createdAt: string; clientId: string }; limit: number },
): Promise<Payment[]> {
  const { isMarked, orderBy } = orderOfMarked(dialect, "awaited_since", "created_at");
  const position = after ? `and ${orderBy} >= ? and (${orderBy} > ? or client_id > ?)` : "";
  const indexes = dialect.sparesIndexes ? awaitedStates.map((state) => `state = '${state}' and`) : [""];
  const queries = indexes.map((index) => ({
    sql: `select ${columns} from ${tables.payments} where ${index} ${isMarked} ${orderBy} < ? ${position}`,
    params: [before, ...(after ? [after.createdAt, after.createdAt, after.clientId] : [])],
  }));
  return read(reader, pageOf(dialect, queries, `${orderBy}, client_id`, limit));
}

/** Reads the payments whose lookup is due, in the order of `nextLookupAt`. */
export function lookupDuePayments(
  reader: Session,
  { tables }: Database,
  { before, limit }: { before: string; limit: number },
): Promise<Payment[]> {
  return read(reader, {
    sql: `select ${columns} from ${tables.payments} where next_lookup_at < ?
      order by next_lookup_at, client_id limit ?`,
    params: [before, limit],
  });
}

/**
 * Reads one page of a list. The lists of all payments, of a state and of a need have an index in their order.
 */
export function readPaymentsPage(
  reader: Session,
  { dialect, tables }: Database,
  page: PaymentPage,
): Promise<Payment[]> {
  const { state, need, reference, providerId, from, to, after, newestFirst, limit } = page;
  const [behind, direction] = newestFirst ? ["<", "desc"] : [">", "asc"];
  const isOfState = state !== undefined && reference === undefined;
  const conditions = [
    // A reference has few payments. With this form, the database does not read an index of states for them.
    { sql: isOfState ? "state = ?" : "coalesce(state, '') = ?", params: [state] },
    { sql: "attention = ?", params: [need] },
    { sql: "reference = ?", params: [reference] },
    { sql: "provider_id = ?", params: [providerId] },
    { sql: "created_at >= ?", params: [from] },
    { sql: "created_at < ?", params: [to] },
    {
      // Because of the first half, the databases use the index. They would not use the index for only the
      // second half.
      sql: `created_at ${behind}= ? and (created_at ${behind} ? or client_id ${behind} ?)`,
      params: [after?.createdAt, after?.createdAt, after?.clientId],
    },
  ];
  const index = need !== undefined ? "attention" : isOfState ? "state" : undefined;
  const table = `${tables.payments} ${index ? dialect.forceIndex(`${tables.payments}_${index}`) : ""}`;
  const queries = (dialect.sparesIndexes ? indexesOf(page) : ["1 = 1"]).map((index) => {
    const where = allOf([{ sql: index, params: [] }, ...conditions]);
    return { ...where, sql: `select ${columns} from ${table} where ${where.sql}` };
  });
  return read(reader, pageOf(dialect, queries, `created_at ${direction}, client_id ${direction}`, limit));
}

/** Returns the conditions of the partial indexes that contain a page. */
function indexesOf({ state, reference }: PaymentPage): string[] {
  if (state === undefined || reference !== undefined) return ["1 = 1"];
  if (state === "completed") return ["state = 'completed'"];
  const settled = "awaited_since is null and state <> 'completed'";
  return awaitedStates.includes(state) ? ["awaited_since is not null", settled] : [settled];
}

async function read(reader: Session, { sql, params }: Fragment): Promise<Payment[]> {
  const { rows } = await reader.run<PaymentRow>(sql, params);
  return rows.map(paymentFromRow);
}
