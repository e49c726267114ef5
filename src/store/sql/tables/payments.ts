import { type TillkitError } from "../../../errors/index.js";
import { needOfPayment } from "../../../model/attention.js";
import { type Money, type Payment } from "../../../model/payment.js";
import { conflict, isUndecided } from "../../rules/payments.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";
import { packReport, unpackReport } from "./packed-report.js";
import { type Batch, insertNew, updateByKey } from "./write-rows.js";

/** A column of the table of payments. An absent value is null in the row, and is left out of the payment. */
interface PaymentColumn {
  of: (payment: Payment) => string | number | null;
  /** Sets a value that is not null. Absent if other columns contain the same information. */
  set?: (payment: Payment, value: string) => void;
}

type TextField = { [Name in keyof Payment]-?: string extends Payment[Name] ? Name : never }[keyof Payment];

/** Returns the column of a field that is stored unchanged. */
const kept = (name: Exclude<TextField, undefined>): PaymentColumn => ({
  of: (payment) => payment[name] ?? null,
  set: (payment, value) => (payment[name] = value),
});

/** All columns, beginning with the key. The function `set` of a column may need the columns before it. */
const columnTable = {
  client_id: kept("clientId"),
  reference: kept("reference"),
  total_value: {
    of: ({ total }) => total.value,
    set: (payment, value) => (payment.total = { value, currency: "" }),
  },
  total_currency: {
    of: ({ total }) => total.currency,
    set: (payment, currency) => (payment.total.currency = currency),
  },
  state: { of: ({ state }) => state, set: (payment, state) => (payment.state = state as Payment["state"]) },
  status: kept("status"),
  // The reference of an open payment, otherwise null. A unique index then allows only one open payment of
  // each reference.
  open_reference: {
    of: ({ open, reference }) => (open ? reference : null),
    set: (payment) => (payment.open = true),
  },
  service_id: kept("serviceId"),
  checkout_url: kept("checkoutUrl"),
  return_key_hash: kept("returnKeyHash"),
  locale: kept("locale"),
  metadata: {
    of: ({ metadata }) => (metadata === undefined ? null : JSON.stringify(metadata)),
    set: (payment, json) => (payment.metadata = JSON.parse(json) as Record<string, unknown>),
  },
  created_at: kept("createdAt"),
  updated_at: kept("updatedAt"),
  completed_at: kept("completedAt"),
  success_returned_at: kept("successReturnedAt"),
  cancel_returned_at: kept("cancelReturnedAt"),
  replaced_by: kept("replacedBy"),
  failure: kept("failure"),
  overdue_at: kept("overdueAt"),
  // `created_at` of a payment that can become overdue, so that an index contains only such payments.
  awaited_since: { of: (payment) => (isUndecided(payment) ? payment.createdAt : null) },
  next_lookup_at: kept("nextLookupAt"),
  // `reported`, `service` and `firstWebhookAt` in few bytes. The provider's id has its own column, because
  // lists search it.
  reported: { of: packReport, set: unpackReport },
  provider_id: {
    of: ({ reported }) => reported?.providerId ?? null,
    set: ({ reported }, providerId) => reported && (reported.providerId = providerId),
  },
  lookups: {
    of: ({ lookups }) => lookups ?? null,
    set: (payment, lookups) => (payment.lookups = Number(lookups)),
  },
  // The payment's need, or `settled`. Most needs follow from other columns, so `set` ignores them.
  attention: {
    of: (payment) => needOfPayment(payment) ?? payment.attention ?? null,
    set: (payment, attention) => {
      if (attention === "paid_twice" || attention === "paid_late" || attention === "settled")
        payment.attention = attention;
    },
  },
  withheld: {
    of: ({ withheld }) => withheld ?? null,
    set: (payment, withheld) => (payment.withheld = withheld as NonNullable<Payment["withheld"]>),
  },
  received: {
    of: ({ received }) => (received === undefined ? null : JSON.stringify(received)),
    set: (payment, json) => (payment.received = JSON.parse(json) as Money),
  },
  refunded: kept("refunded"),
} satisfies Record<string, PaymentColumn>;

type ColumnName = keyof typeof columnTable;

/** The names of the columns, beginning with the key. */
export const paymentColumns = Object.keys(columnTable) as ColumnName[];
const columns: readonly PaymentColumn[] = Object.values(columnTable);

/** A row of the table of payments. */
export type PaymentRow = Record<ColumnName, unknown> & { client_id: string };

/** Returns the values of a payment, in the order of {@link paymentColumns}. */
export function paymentValues(payment: Payment): unknown[] {
  return columns.map(({ of }) => of(payment));
}

/** Returns the payment with these values, in the order of {@link paymentColumns}. */
export function paymentFrom(values: readonly unknown[]): Payment {
  const payment = { open: false } as Payment;
  for (let index = 0; index < columns.length; index++) {
    const value = values[index] as string | null;
    if (value !== null) columns[index]!.set?.(payment, value);
  }
  return payment;
}

/** Returns the payment of a row. */
export function paymentFromRow(row: PaymentRow): Payment {
  return paymentFrom(paymentColumns.map((column) => row[column]));
}

/**
 * Updates payments. Payments that close an attempt go first. The databases check uniqueness row by row, and
 * the attempt that opens needs the reference. If a payment was `locked`, only the columns that differ are
 * written.
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

/** Columns that never change. Setting them would make SQLite write their indexes. */
const lasting: readonly ColumnName[] = ["reference", "created_at"];
const changeable = paymentColumns.flatMap((column, index) =>
  lasting.includes(column) ? [] : [{ column, index }],
);

/** The columns that an update may set, without the key, each with its position among the values. */
export const settable = changeable.slice(1);

/** Returns the new rows of payments, for an update by key. */
export function changedPaymentsBatch({ tables }: Database, payments: readonly Payment[]): Batch {
  const rows = payments.map((payment) => {
    const values = paymentValues(payment);
    return changeable.map(({ index }) => values[index]);
  });
  return { table: tables.payments, columns: changeable.map(({ column }) => column), rows };
}

/** Returns a batch with only the key and the columns in which a payment differs from its locked form. */
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

/** Throws `store_conflict` if an update did not find every payment. */
export function expectUpdated(tx: Transaction, wanted: number, affected: number): void {
  if (affected !== wanted)
    throw poisonWithConflict(tx, `${wanted - affected} of the updated payments are not in the store.`);
}

/**
 * Inserts payments. Returns the clientIds of payments whose clientId or open reference is taken. Throws
 * `store_conflict` if only the service id is taken.
 */
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
 * Throws `store_conflict` if a new payment was left out because its service id is taken. If its clientId or
 * its open reference is taken, this is the reason instead. Ignores the payments `behind`, which were stored
 * after the new payment was left out and may now have the reference.
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
