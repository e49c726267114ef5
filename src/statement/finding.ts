import { type Money, type PaymentState } from "../model/payment.js";
import { type RowProblem } from "./row.js";

/**
 * Where statement and books part, in the order of their weight.
 *
 * - `missing_here`: the statement has a payment that the books do not know.
 * - `missing_there`: the books have it completed in the period; no row of the statement names it.
 * - `id_differs`: the row's clientId and serviceId do not belong to one payment.
 * - `currency_differs`, `amount_differs`: what was paid is not what the books have.
 * - `unpaid_here`: the statement says paid, and the books do not.
 * - `unpaid_there`: the books say completed, and the statement lists it with another status.
 * - `listed_twice`: one payment stands on the statement as paid once more; told at each row after the first.
 * - `paid_twice`: two payments of one reference were paid; told of each after the first.
 */
export const differenceKinds = [
  "missing_here",
  "missing_there",
  "id_differs",
  "currency_differs",
  "amount_differs",
  "unpaid_here",
  "unpaid_there",
  "listed_twice",
  "paid_twice",
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

/**
 * All that a run can find: differences; `bad_row`, a row that could not be compared; and `at_edge`, a completion so close to
 * an end of the period that it may stand on the neighbouring statement, which is no difference.
 */
export type FindingKind = DifferenceKind | "bad_row" | "at_edge";

/** One thing that was found. What does not apply to its kind is absent. */
export interface StatementFinding {
  kind: FindingKind;
  /** The line of the statement. */
  line?: number;
  /** With `listed_twice`: the line where the payment stood first. */
  firstLine?: number;
  clientId?: string;
  serviceId?: string;
  providerId?: string;
  /** The merchant's order, where the books know the payment. */
  reference?: string;
  /** The provider channel, as the statement has it. */
  source?: string;
  /** What the statement says. */
  statement?: Money & { status?: string; time?: string };
  /** What the books say. */
  books?: Money & { state: PaymentState; completedAt?: string };
  /** With `amount_differs`: statement minus books, a decimal string that may be negative. */
  difference?: string;
  /** With `paid_twice`: the payment of the reference that was paid first. With `id_differs`: the other payment or id. */
  other?: string;
  /** With `bad_row`. */
  problem?: RowProblem;
}
