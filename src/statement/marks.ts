import { type Payment, type PaymentState } from "../model/payment.js";
import { type JudgedRow } from "./row.js";
import { type RowBucket } from "./summary.js";

// Marks are what a run remembers of rows and payments: short lines of JSON that are sorted outside of memory. What is
// compared stands first in them, so that the marks of one payment or one reference lie side by side.

/** What became of a row in its first comparison; `unpaid` and `bad` only mark the payment as present. */
export type MarkedBucket = RowBucket | "unpaid" | "bad";

/** A row of the statement. */
export interface RowMark {
  side: "row";
  key: string;
  line: number;
  bucket: MarkedBucket;
  value: string;
  currency: string;
  source: string;
  clientId: string;
  serviceId: string;
  reference: string;
}

/** A payment that the books have completed in the period. */
export interface PaymentMark {
  side: "books";
  key: string;
  completedAt: string;
  value: string;
  currency: string;
  clientId: string;
  serviceId: string;
  reference: string;
}

/** Known payments by their clientId; what the books do not know, by the row's own id. */
export function keyOf(
  row: { clientId?: string | undefined; serviceId?: string | undefined },
  payment?: Payment,
): string {
  if (payment) return `k${payment.clientId}`;
  return row.clientId ? `c${row.clientId}` : `s${row.serviceId ?? ""}`;
}

/** Sorts behind the mark of the books, and by its line. */
export function rowMark(
  row: Omit<JudgedRow, "paid">,
  bucket: MarkedBucket,
  payment: Payment | undefined,
): string {
  const { line, value, currency, source = "", clientId = "", serviceId = "" } = row;
  const known = [payment?.clientId ?? clientId, payment?.serviceId ?? serviceId, payment?.reference ?? ""];
  return JSON.stringify([keyOf(row, payment), 1, padded(line), bucket, value, currency, source, ...known]);
}

export function paymentMark(
  { clientId, serviceId = "", reference, total }: Payment,
  completedAt: string,
): string {
  return JSON.stringify([
    `k${clientId}`,
    0,
    completedAt,
    total.value,
    total.currency,
    clientId,
    serviceId,
    reference,
  ]);
}

export function readMark(text: string): RowMark | PaymentMark {
  const mark = JSON.parse(text) as [string, 0 | 1, ...string[]];
  if (mark[1] === 0) {
    const [key, , completedAt, value, currency, clientId, serviceId, reference] = mark as never as string[];
    return {
      side: "books",
      key,
      completedAt,
      value,
      currency,
      clientId,
      serviceId,
      reference,
    } as PaymentMark;
  }
  const [key, , line, bucket, value, currency, source, clientId, serviceId, reference] =
    mark as never as string[];
  const rest = { bucket, value, currency, source, clientId, serviceId, reference };
  return { side: "row", key, line: Number(line), ...rest } as RowMark;
}

/** One paid payment of a reference that has several payments. */
export interface SiblingMark {
  reference: string;
  /** Empty where only the statement says that it was paid. */
  completedAt: string;
  clientId: string;
  /** 0 where it is not on the statement. */
  line: number;
  value: string;
  currency: string;
  state: PaymentState;
  serviceId: string;
  source: string;
}

const notCompleted = "~";

/** Sorts by reference, then in the order in which the payments were completed. */
export function siblingMark(payment: Payment, row?: JudgedRow): string {
  const { reference, clientId, total, state, serviceId = "", completedAt } = payment;
  const at = state === "completed" ? (completedAt ?? payment.updatedAt) : notCompleted;
  // The one with a line stands before copies without.
  const line = row ? padded(row.line) : "~";
  const rest = [total.value, total.currency, state, serviceId, row?.source ?? ""];
  return JSON.stringify([reference, at, clientId, line, ...rest]);
}

export function readSiblingMark(text: string): SiblingMark {
  const [reference, at, clientId, line, value, currency, state, serviceId, source] = JSON.parse(
    text,
  ) as string[];
  const known = { reference, clientId, value, currency, state, serviceId, source };
  return {
    ...known,
    completedAt: at === notCompleted ? "" : at,
    line: line === "~" ? 0 : Number(line),
  } as SiblingMark;
}

function padded(line: number): string {
  return String(line).padStart(12, "0");
}
