import { TillkitError } from "../../../errors/index.js";
import { type Payment, type PaymentState } from "../../../model/payment.js";
import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { type Tables } from "./names.js";
import { insertNew, updateByKey } from "./write-rows.js";
import { type Batch } from "./batch.js";

/** A payment as it lies in the table; `null` is absent. */
export interface PaymentRow {
  client_id: string;
  reference: string;
  total_value: string;
  total_currency: string;
  state: string;
  status: string | null;
  /** The reference while the payment is open, so that a plain unique index keeps one open payment per reference. */
  open_reference: string | null;
  service_id: string | null;
  checkout_url: string | null;
  return_key_hash: string | null;
  locale: string | null;
  metadata: string | null;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
  success_returned_at: string | null;
  cancel_returned_at: string | null;
  replaced_by: string | null;
  failure: string | null;
  overdue_at: string | null;
  /** `created_at` while the payment can become overdue, so that looking for those costs nothing when there are none. */
  awaited_since: string | null;
  next_lookup_at: string | null;
  lookups: number | string | null;
}

/** Every column, the key first. */
export const paymentColumns = [
  "client_id",
  "reference",
  "total_value",
  "total_currency",
  "state",
  "status",
  "open_reference",
  "service_id",
  "checkout_url",
  "return_key_hash",
  "locale",
  "metadata",
  "created_at",
  "updated_at",
  "completed_at",
  "success_returned_at",
  "cancel_returned_at",
  "replaced_by",
  "failure",
  "overdue_at",
  "awaited_since",
  "next_lookup_at",
  "lookups",
] as const satisfies readonly (keyof PaymentRow)[];

/** Those that can become overdue. */
export const awaitedStates: readonly PaymentState[] = ["creating", "pending", "uncertain"];

/** The values of a payment, in the order of {@link paymentColumns}. */
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
    lookups: payment.lookups ?? null,
  };
  return paymentColumns.map((column) => row[column]);
}

const place = Object.fromEntries(paymentColumns.map((column, index) => [column, index])) as Record<
  keyof PaymentRow,
  number
>;

/** The row with these values, in the order of {@link paymentColumns}. Written out, it takes a fortieth of what a loop takes. */
export function rowOf(values: readonly never[]): PaymentRow {
  return {
    client_id: values[place.client_id]!,
    reference: values[place.reference]!,
    total_value: values[place.total_value]!,
    total_currency: values[place.total_currency]!,
    state: values[place.state]!,
    status: values[place.status]!,
    open_reference: values[place.open_reference]!,
    service_id: values[place.service_id]!,
    checkout_url: values[place.checkout_url]!,
    return_key_hash: values[place.return_key_hash]!,
    locale: values[place.locale]!,
    metadata: values[place.metadata]!,
    created_at: values[place.created_at]!,
    updated_at: values[place.updated_at]!,
    completed_at: values[place.completed_at]!,
    success_returned_at: values[place.success_returned_at]!,
    cancel_returned_at: values[place.cancel_returned_at]!,
    replaced_by: values[place.replaced_by]!,
    failure: values[place.failure]!,
    overdue_at: values[place.overdue_at]!,
    awaited_since: values[place.awaited_since]!,
    next_lookup_at: values[place.next_lookup_at]!,
    lookups: values[place.lookups]!,
  };
}

/** The payment of a row. What is null in the row has no key in the payment. */
export function paymentOf(row: PaymentRow): Payment {
  // One by one, in the order of the interface: an object that is spread where it may be empty costs six times as much.
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
  if (row.lookups !== null) payment.lookups = Number(row.lookups);
  return payment;
}

/**
 * Writes payments that are there. Those that close an attempt go first: the databases check uniqueness row by row, and
 * the attempt that opens needs the reference free. Of those that are among the `locked` only what differs is written.
 */
export async function updatePayments(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  updated: readonly Payment[],
  locked?: readonly Payment[],
): Promise<void> {
  const latest = [...new Map(updated.map((payment) => [payment.clientId, payment])).values()];
  for (const open of [false, true]) {
    const some = latest.filter((payment) => payment.open === open);
    const batch = locked ? differingPaymentsBatch(tables, some, locked) : changedPaymentsBatch(tables, some);
    if (batch.columns.length > 1)
      await expectUpdated(tx, batch.rows.length, await updateByKey(tx, dialect, batch));
  }
}

/** What a payment is born with and keeps: left out of updates, because SQLite writes an index for every column set. */
const lasting: readonly (keyof PaymentRow)[] = ["reference", "created_at"];
const changeable = paymentColumns.flatMap((column, index) =>
  lasting.includes(column) ? [] : [{ column, index }],
);

/** The same without the key: what an update may set, with its place among the values. */
export const settable = changeable.slice(1);

/** The rows of new payments. */
function newPaymentsBatch(tables: Tables, payments: readonly Payment[]): Batch {
  return { table: tables.payments, columns: paymentColumns, rows: payments.map(paymentValues) };
}

/** The rows of payments that are there, the key first, as they are to be. */
export function changedPaymentsBatch(tables: Tables, payments: readonly Payment[]): Batch {
  const rows = payments.map((payment) => {
    const values = paymentValues(payment);
    return changeable.map(({ index }) => values[index]);
  });
  return { table: tables.payments, columns: changeable.map(({ column }) => column), rows };
}

/** The same with nothing but the columns that differ in one of them at least from what was locked. */
export function differingPaymentsBatch(
  tables: Tables,
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
  return { table: tables.payments, columns, rows, alike: [columns.slice(1)] };
}

/** An update must find every payment that it is about. */
export async function expectUpdated(tx: KitTx, wanted: number, affected: number): Promise<void> {
  if (affected === wanted) return;
  throw await conflict(tx, `${wanted - affected} of the updated payments are not in the store.`);
}

/** Inserts payments; answers the clientIds of those whose clientId or open reference is taken. */
export async function insertPayments(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  created: readonly Payment[],
): Promise<string[]> {
  const leftOut = await insertNew(tx, dialect, newPaymentsBatch(tables, created));
  for (const index of leftOut) {
    const behind = created.filter((_, other) => other > index && !leftOut.has(other));
    if (created[index]!.serviceId !== undefined)
      await refuseServiceIdClash(tx, tables, created[index]!, behind);
  }
  return created.filter((_, index) => leftOut.has(index)).map((payment) => payment.clientId);
}

/** Rejects where a new payment was left out neither for its clientId nor for its reference, which those stored behind it may have. */
async function refuseServiceIdClash(
  tx: KitTx,
  tables: Tables,
  payment: Payment,
  behind: readonly Payment[],
): Promise<void> {
  const { rows } = await tx.run<{ client_id: string }>(
    `select client_id from ${tables.payments}
      where client_id = ? or (reference = ? and open_reference is not null)`,
    [payment.clientId, payment.open ? payment.reference : null],
  );
  if (rows.some((row) => !behind.some(({ clientId }) => clientId === row.client_id))) return;
  throw await conflict(tx, "The service id of a new payment belongs to another payment.");
}

async function conflict(tx: KitTx, message: string): Promise<TillkitError> {
  const error = new TillkitError("store_conflict", message);
  await tx.poison(error);
  return error;
}
