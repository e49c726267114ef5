import { receivedOf } from "../../model/attempts.js";
import { type Payment, type PaymentState } from "../../model/payment.js";
import { type CheckedRow } from "../statement-row.js";
import { type RowBucket } from "../result/summary.js";

// A run writes entries of rows and of payments, each as a short line of JSON, and sorts the lines outside of
// memory. The first values of an entry are its sort key: after sorting, the entries of one payment or
// reference are neighbours.

/**
 * The group of a row after its first comparison. A row in `unpaid` or `bad` names its payment, but shows no
 * money. A row in `refund` does not count as naming its payment.
 */
export type EntryBucket = RowBucket | "unpaid" | "bad" | "refund";

interface CommonEntry {
  value: string;
  currency: string;
  clientId: string;
  serviceId: string;
  reference: string;
}

/** A row of the statement. */
export interface RowEntry extends CommonEntry {
  side: "row";
  /** The key of the payment, which is equal for all its entries. */
  key: string;
  line: number;
  bucket: EntryBucket;
  source: string;
  /** The key of a refund. Only the entries of refunds have a key, a time and a provider's number. */
  rowKey?: string;
  time?: string;
  providerId?: string;
}

/** A stored payment that was completed in the period. */
export interface PaymentEntry extends CommonEntry {
  side: "stored";
  key: string;
  completedAt: string;
}

/** Returns the entry of a row. The entry sorts after the entry of its payment, and then by its line. */
export function rowEntry(
  row: Omit<CheckedRow, "kind" | "paid" | "utcOffsetMs">,
  bucket: EntryBucket,
  payment: Payment | undefined,
  rowKey?: string,
): string {
  const { line, value, currency, source = "", clientId = "", serviceId = "", time } = row;
  const unknownKey = clientId ? `c${clientId}` : `s${serviceId}`;
  const ids = [payment?.clientId ?? clientId, payment?.serviceId ?? serviceId, payment?.reference ?? ""];
  const key = payment ? entryKey(payment) : unknownKey;
  const ofRefund = rowKey === undefined ? [] : [rowKey, time, row.providerId];
  return JSON.stringify([key, 1, padded(line), bucket, value, currency, source, ...ids, ...ofRefund]);
}

/** Returns the entry of a payment that was completed in the period. */
export function paymentEntry(payment: Payment, completedAt: string): string {
  const { clientId, serviceId = "", reference } = payment;
  const { value, currency } = receivedOf(payment);
  // Bucket and source stay empty, so that both kinds of entry have the same fields.
  const fields = ["", value, currency, "", clientId, serviceId, reference];
  return JSON.stringify([entryKey(payment), 0, completedAt, ...fields]);
}

function entryKey({ clientId }: Payment): string {
  return `k${clientId}`;
}

/** Reads a line of {@link rowEntry} or {@link paymentEntry}. */
export function readEntry(text: string): RowEntry | PaymentEntry {
  const [key, side, at, bucket, value, currency, source, clientId, serviceId, reference, ...ofRefund] =
    JSON.parse(text);
  const [rowKey, time, providerId] = ofRefund;
  if (side === 0)
    return { side: "stored", key, completedAt: at, value, currency, clientId, serviceId, reference };
  const line = Number(at);
  const row = { line, bucket, value, currency, source, clientId, serviceId, reference };
  return { side: "row", key, ...row, rowKey, time, providerId };
}

/** One paid payment of a reference that has several payments. */
export interface SiblingEntry extends CommonEntry {
  /** The time of completion. Empty if only the statement lists the payment as paid. */
  completedAt: string;
  /** The line of the payment's row; 0 if no row lists the payment. */
  line: number;
  state: PaymentState;
  source: string;
}

/** A text that sorts after every time and every line number. */
const last = "~";

/** Returns the entry of a sibling. The entry sorts by reference, second payments last, then by completion. */
export function siblingEntry(payment: Payment, row?: CheckedRow): string {
  const { reference, clientId, state, serviceId = "", completedAt } = payment;
  const { value, currency } = receivedOf(payment);
  const at = state === "completed" ? (completedAt ?? payment.updatedAt) : last;
  const line = row ? padded(row.line) : last;
  const rest = [value, currency, state, serviceId, row?.source ?? ""];
  // The rank depends on `paid_twice` and not on a time, because the webhook that arrives second may be about
  // the payment that was paid first.
  const rank = payment.attention === "paid_twice" ? 1 : 0;
  return JSON.stringify([reference, rank, at, clientId, line, ...rest]);
}

/** Reads a line of {@link siblingEntry}. */
export function readSiblingEntry(text: string): SiblingEntry {
  const [reference, , at, clientId, line, value, currency, state, serviceId, source] = JSON.parse(text);
  const completedAt = at === last ? "" : at;
  const lineNumber = line === last ? 0 : Number(line);
  return { reference, completedAt, clientId, line: lineNumber, value, currency, state, serviceId, source };
}

function padded(line: number): string {
  return String(line).padStart(12, "0");
}
