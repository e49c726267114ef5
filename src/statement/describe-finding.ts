import { type Payment } from "../model/payment.js";
import { type DifferenceKind, type StatementFinding } from "./finding.js";
import { type JudgedRow } from "./row.js";
import { differenceOf } from "./totals.js";

/** What a person needs to act on a row that differs. */
export function describeRow(
  kind: DifferenceKind,
  row: JudgedRow,
  payment: Payment | undefined,
  other: string | undefined,
): StatementFinding {
  const clientId = row.clientId || payment?.clientId;
  const serviceId = row.serviceId || payment?.serviceId;
  return {
    kind,
    line: row.line,
    ...(clientId && { clientId }),
    ...(serviceId && { serviceId }),
    ...(row.providerId && { providerId: row.providerId }),
    ...(payment && { reference: payment.reference }),
    ...(row.source && { source: row.source }),
    statement: saidByRow(row),
    ...(payment && { books: saidByBooks(payment) }),
    ...(kind === "amount_differs" && { difference: differenceOf(row, payment!.total) }),
    ...(kind === "id_differs" && other !== undefined && { other }),
  };
}

/** What a payment of the books says of itself. */
export function saidByBooks({ total, state, completedAt }: Payment): NonNullable<StatementFinding["books"]> {
  return { ...total, state, ...(completedAt !== undefined && { completedAt }) };
}

function saidByRow({ value, currency, status, time }: JudgedRow): NonNullable<StatementFinding["statement"]> {
  return { value, currency, ...(status && { status }), ...(time && { time }) };
}
