import { type Payment } from "../model/payment.js";
import { sameValue } from "../model/money.js";
import { type DifferenceKind } from "./finding.js";
import { type JudgedRow } from "./row.js";

/** What the books know under the ids of a row. */
export interface Named {
  byClientId?: Payment | undefined;
  byServiceId?: Payment | undefined;
}

/** A row beside the books. */
export interface Comparison {
  /** The payment that the row is about; none where the books do not know it. */
  payment?: Payment;
  /** Every difference, the gravest first; none where both say the same. */
  kinds: DifferenceKind[];
  /** With `id_differs`: what the other id leads to. */
  other?: string;
}

/** Compares one row with the books. Pure. */
export function compareRow(row: JudgedRow, { byClientId, byServiceId }: Named): Comparison {
  const payment = byClientId ?? byServiceId;
  if (!payment) return { kinds: ["missing_here"] };
  const other = otherId(row, payment, byClientId !== undefined);
  // Whose money it is must be settled by a person first; the amounts of two payments are not compared.
  if (other !== undefined) return { payment, kinds: ["id_differs"], other };
  const kinds: DifferenceKind[] = [];
  const { total, state } = payment;
  if (row.currency !== total.currency) kinds.push("currency_differs");
  else if (!sameValue(row.value, total.value)) kinds.push("amount_differs");
  if (row.paid && state !== "completed") kinds.push("unpaid_here");
  if (!row.paid && state === "completed") kinds.push("unpaid_there");
  return { payment, kinds };
}

function otherId(row: JudgedRow, payment: Payment, byClientId: boolean): string | undefined {
  if (!byClientId) return row.clientId ? payment.clientId : undefined;
  const differs = row.serviceId && payment.serviceId !== undefined && payment.serviceId !== row.serviceId;
  return differs ? payment.serviceId : undefined;
}
