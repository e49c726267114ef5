import { type TillkitError } from "../../../errors/index.js";
import { awaitedStates, type Payment } from "../../../model/payment.js";
import { conflict } from "../../rules/payments.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { packReport, unpackReport } from "./packed-report.js";
import { type Batch, insertNew, updateByKey } from "./write-rows.js";

const required = [
  "client_id",
  "reference",
  "total_value",
  "total_currency",
  "state",
  "created_at",
  "updated_at",
] as const;

/**
 * `open_reference` is the reference while the payment is open, so that a plain unique index keeps one open payment for each.
 * `awaited_since` is `created_at` while the payment can become overdue, so that an index lists only those.
 * `reported` has `reported` and `service` of the payment in few bytes, without `provider_id`, which is searched.
 */
const nullable = [
  "status",
  "open_reference",
  "service_id",
  "checkout_url",
  "return_key_hash",
  "locale",
  "metadata",
  "completed_at",
  "success_returned_at",
  "cancel_returned_at",
  "replaced_by",
  "failure",
  "overdue_at",
  "awaited_since",
  "next_lookup_at",
  "reported",
  "provider_id",
  "withheld",
] as const;

/** Every column, the key first. */
export const paymentColumns = [...required, ...nullable, "lookups"] as const;

type Column = (typeof paymentColumns)[number];

/** A row of the table of payments; `null` stands for an absent value. */
export type PaymentRow = Record<(typeof required)[number], string> &
  Record<(typeof nullable)[number], string | null> & { lookups: number | string | null };

/** Returns the values of a payment, in the order of {@link paymentColumns}. */
export function paymentValues(payment: Payment): unknown[] {
  const awaited = awaitedStates.includes(payment.state) && payment.overdueAt === undefined;
  const row: PaymentRow = {
    client_id: payment.clientId,
    reference: payment.reference,
    total_value: payment.total.value,
    total_currency: payment.total.currency,
    state: payment.state,
    status: payment.status ?? null,
    open_reference: payment.open ? payment.reference : null,
    service_id: payment.serviceId ?? null,
    checkout_url: payment.checkoutUrl ?? null,
    return_key_hash: payment.returnKeyHash ?? null,
    locale: payment.locale ?? null,
    metadata: payment.metadata === undefined ? null : JSON.stringify(payment.metadata),
    created_at: payment.createdAt,
    updated_at: payment.updatedAt,
    completed_at: payment.completedAt ?? null,
    success_returned_at: payment.successReturnedAt ?? null,
    cancel_returned_at: payment.cancelReturnedAt ?? null,
    replaced_by: payment.replacedBy ?? null,
    failure: payment.failure ?? null,
    overdue_at: payment.overdueAt ?? null,
    awaited_since: awaited ? payment.createdAt : null,
    next_lookup_at: payment.nextLookupAt ?? null,
    reported: packReport(payment),
    provider_id: payment.reported?.providerId ?? null,
    withheld: payment.withheld ?? null,
    lookups: payment.lookups ?? null,
  };
  return paymentColumns.map((column) => row[column]);
}

/** Returns the row with these values, in the order of {@link paymentColumns}. */
export function rowOf(values: readonly unknown[]): PaymentRow {
  const row: Partial<Record<Column, unknown>> = {};
  // An iterator over the entries is far slower, and this runs for every payment of a group.
  for (let index = 0; index < paymentColumns.length; index++) row[paymentColumns[index]!] = values[index];
  return row as PaymentRow;
}

/** Returns the payment of a row. A value that is null in the row has no key in the payment. */
export function paymentFromRow(row: PaymentRow): Payment {
  // Set one by one, in the order of the interface: spreading objects that may be empty is far slower.
  const payment = {
    clientId: row.client_id,
    reference: row.reference,
    total: { value: row.total_value, currency: row.total_currency },
    state: row.state,
  } as Payment;
  if (row.status !== null) payment.status = row.status;
  payment.open = row.open_reference !== null;
  if (row.service_id !== null) payment.serviceId = row.service_id;
  if (row.checkout_url !== null) payment.checkoutUrl = row.checkout_url;
  if (row.return_key_hash !== null) payment.returnKeyHash = row.return_key_hash;
  if (row.locale !== null) payment.locale = row.locale;
  if (row.metadata !== null) payment.metadata = JSON.parse(row.metadata) as Record<string, unknown>;
  payment.createdAt = row.created_at;
  payment.updatedAt = row.updated_at;
  if (row.completed_at !== null) payment.completedAt = row.completed_at;
  if (row.success_returned_at !== null) payment.successReturnedAt = row.success_returned_at;
  if (row.cancel_returned_at !== null) payment.cancelReturnedAt = row.cancel_returned_at;
  if (row.replaced_by !== null) payment.replacedBy = row.replaced_by;
  if (row.failure !== null) payment.failure = row.failure;
  if (row.overdue_at !== null) payment.overdueAt = row.overdue_at;
  if (row.next_lookup_at !== null) payment.nextLookupAt = row.next_lookup_at;
  if (row.reported !== null) unpackReport(payment, row.reported, row.provider_id);
  if (row.lookups !== null) payment.lookups = Number(row.lookups);
  if (row.withheld !== null) payment.withheld = row.withheld as NonNullable<Payment["withheld"]>;
  return payment;
}

/**
 * Updates payments. Those that close an attempt go first: the databases check uniqueness row by row, and the attempt that opens
 * needs the reference free. Of payments that are among the `locked` ones only the columns that differ are written.
 */
export async function updatePayments(
  tx: Transaction,
  db: Database,
  updated: readonly Payment[],
  locked?: readonly Payment[],
): Promise<void> {
  const latest = [...new Map(updated.map((payment) => [payment.clientId, payment])).values()];
  for (const open of [false, true]) {
    const some = latest.filter((payment) => payment.open === open);
    const batch = locked ? differingPaymentsBatch(db, some, locked) : changedPaymentsBatch(db, some);
    if (batch.columns.length > 1)
      expectUpdated(tx, batch.rows.length, await updateByKey(tx, db.dialect, batch));
  }
}

/** The columns that never change, which no update sets: SQLite writes the index of every column that is set. */
const lasting: readonly Column[] = ["reference", "created_at"];
const changeable = paymentColumns.flatMap((column, index) =>
  lasting.includes(column) ? [] : [{ column, index }],
);

/** The columns that an update may set, without the key, each with its place among the values. */
export const settable = changeable.slice(1);

/** Returns the rows of payments as they are to be, for an update by the key. */
export function changedPaymentsBatch({ tables }: Database, payments: readonly Payment[]): Batch {
  const rows = payments.map((payment) => {
    const values = paymentValues(payment);
    return changeable.map(({ index }) => values[index]);
  });
  return { table: tables.payments, columns: changeable.map(({ column }) => column), rows };
}

/** Returns such rows with only the key and the columns in which at least one payment differs from the locked one. */
export function differingPaymentsBatch(
  { tables }: Database,
  payments: readonly Payment[],
  locked: readonly Payment[],
): Batch {
  const found = new Map(locked.map((payment) => [payment.clientId, payment]));
  const pairs = payments.map((payment) => {
    const other = found.get(payment.clientId);
    return { now: paymentValues(payment), before: other && paymentValues(other) };
  });
  const differing = changeable.filter(
    ({ index }) => index === 0 || pairs.some(({ now, before }) => now[index] !== before?.[index]),
  );
  const rows = pairs.map(({ now }) => differing.map(({ index }) => now[index]));
  const columns = differing.map(({ column }) => column);
  return { table: tables.payments, columns, rows, uniform: [columns.slice(1)] };
}

/** Throws `store_conflict` unless an update found every payment. */
export function expectUpdated(tx: Transaction, wanted: number, affected: number): void {
  if (affected !== wanted)
    throw poisonWithConflict(tx, `${wanted - affected} of the updated payments are not in the store.`);
}

/** Inserts payments. Returns the clientIds of those whose clientId or open reference is taken. */
export async function insertPayments(
  tx: Transaction,
  { dialect, tables }: Database,
  created: readonly Payment[],
): Promise<string[]> {
  const rows = created.map(paymentValues);
  const leftOut = await insertNew(tx, dialect, { table: tables.payments, columns: paymentColumns, rows });
  for (const index of leftOut) {
    const behind = created.filter((_, other) => other > index && !leftOut.has(other));
    if (created[index]!.serviceId !== undefined)
      await refuseServiceIdClash(tx, tables.payments, created[index]!, behind);
  }
  return created.filter((_, index) => leftOut.has(index)).map((payment) => payment.clientId);
}

/**
 * Rejects unless the new payment was left out because of its clientId or its open reference. Payments that were stored after it do
 * not count: they may have taken its reference since.
 */
async function refuseServiceIdClash(
  tx: Transaction,
  table: string,
  { clientId, open, reference }: Payment,
  behind: readonly Payment[],
): Promise<void> {
  const { rows } = await tx.run<{ client_id: string }>(
    `select client_id from ${table} where client_id = ? or (reference = ? and open_reference is not null)`,
    [clientId, open ? reference : null],
  );
  if (rows.some((row) => !behind.some((other) => other.clientId === row.client_id))) return;
  throw poisonWithConflict(tx, "The service id of a new payment belongs to another payment.");
}

function poisonWithConflict(tx: Transaction, message: string): TillkitError {
  const error = conflict(message);
  tx.poison(error);
  return error;
}
