import { receivedOf } from "../../model/attempts.js";
import { sameValue } from "../../model/money.js";
import { type Payment } from "../../model/payment.js";
import { type DifferenceKind, newFinding, type StatementFinding } from "../result/finding.js";
import { type CheckedRow } from "../statement-row.js";
import { differenceOf } from "../result/totals.js";

/** The stored payments that have the ids of a row. */
export interface Matches {
  byClientId?: Payment | undefined;
  byServiceId?: Payment | undefined;
}

/** The result of comparing one row with the stored payments. */
export interface Comparison {
  /** The payment of the row, if it is stored. */
  payment?: Payment;
  /** Every difference, the most serious first. Empty if the row and the payment agree. */
  kinds: DifferenceKind[];
  /** With `id_differs`: the clientId of the other payment, or the other service id. */
  other?: string;
}

/** Compares one row with the stored payments. Does no I/O. */
export function compareRow(row: CheckedRow, { byClientId, byServiceId }: Matches): Comparison {
  if (row.unmatched) return { kinds: ["unmatched_row"] };
  const payment = byClientId ?? byServiceId;
  if (!payment) return { kinds: [row.kind === "refund" ? "refund_missing_here" : "missing_here"] };
  const other = otherId(row, payment, { byClientId, byServiceId });
  // If the ids belong to two payments, their amounts are not compared. A person must first decide which
  // payment was paid.
  if (other !== undefined) return { payment, kinds: ["id_differs"], other };
  const kinds: DifferenceKind[] = [];
  // Refunds are compared later, when all rows of their payment are read.
  if (row.kind === "refund") return { payment, kinds };
  const { state, withheld } = payment;
  const received = receivedOf(payment);
  if (row.currency !== received.currency) kinds.push("currency_differs");
  else if (!sameValue(row.value, received.value)) kinds.push("amount_differs");
  if (row.paid && state !== "completed") kinds.push("unpaid_here");
  if (!row.paid && state === "completed") kinds.push("unpaid_there");
  if (row.paid && withheld === "unsettled") kinds.push("withheld");
  return { payment, kinds };
}

function otherId(
  row: CheckedRow,
  payment: Payment,
  { byClientId, byServiceId }: Matches,
): string | undefined {
  if (!byClientId) return row.clientId ? payment.clientId : undefined;
  if (payment.serviceId === undefined) return byServiceId?.clientId;
  return row.serviceId && payment.serviceId !== row.serviceId ? payment.serviceId : undefined;
}

/** Returns the finding of one difference, with the fields that a person needs to act. */
export function describeDifference(
  kind: DifferenceKind,
  row: CheckedRow,
  { payment, other }: Comparison,
): StatementFinding {
  const { line, providerId, source, currency, status, time, unmatched } = row;
  const value = unmatched && row.kind === "refund" ? `-${row.value}` : row.value;
  return newFinding({
    kind,
    line,
    clientId: row.clientId || payment?.clientId,
    serviceId: row.serviceId || payment?.serviceId,
    providerId,
    reference: payment?.reference,
    source,
    statement: { value, currency, ...(status && { status }), ...(time && { time }) },
    stored: payment && storedSide(payment),
    difference: kind === "amount_differs" ? differenceOf(row, receivedOf(payment!)) : undefined,
    other,
    problem: unmatched?.problem,
    // A person can accept no payment for a refund, or for an unpaid row, so these findings have no
    // candidates.
    candidates:
      row.paid && row.kind === "payment" && unmatched?.candidates.length ? unmatched.candidates : undefined,
  });
}

/** Returns the fields of a finding about the stored payment. */
export function storedSide(payment: Payment): NonNullable<StatementFinding["stored"]> {
  const { state, completedAt, refunded } = payment;
  const money = receivedOf(payment);
  return { ...money, state, ...(completedAt && { completedAt }), ...(refunded && { refunded }) };
}
