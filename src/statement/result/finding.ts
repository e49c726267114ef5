import { type Money, type PaymentState } from "../../model/payment.js";
import { type Candidate, type RowProblem } from "../statement-row.js";

/** The kinds of difference, the most serious first. `docs/statement.md` describes each. */
export const differenceKinds = [
  "missing_here",
  "missing_there",
  "unmatched_row",
  "id_differs",
  "currency_differs",
  "amount_differs",
  "unpaid_here",
  "unpaid_there",
  "withheld",
  "listed_twice",
  "paid_twice",
  "refund_missing_here",
  "fee_differs",
  "payout_differs",
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

/**
 * The kind of a finding: a difference, a row that cannot be read (`bad_row`), or a completion that another
 * statement may list (`at_edge`, `accepted_here`).
 */
export type FindingKind = DifferenceKind | "bad_row" | "at_edge" | "accepted_here";

/** One finding. Fields that do not apply to its kind are absent. */
export interface StatementFinding {
  /** The kind of the finding. */
  kind: FindingKind;
  /** The line of the statement. */
  line?: number;
  /** With `listed_twice`: the line of the first row of the payment. */
  firstLine?: number;
  /** The merchant's id of the payment. */
  clientId?: string;
  /** The service's id of the payment. */
  serviceId?: string;
  /** The provider's reference of the transaction. */
  providerId?: string;
  /** The merchant's order, if the payment is stored. */
  reference?: string;
  /** The provider channel on the statement. */
  source?: string;
  /** The payment on the statement. */
  statement?: Money & { status?: string; time?: string };
  /** The payment in the store. */
  stored?: Money & { state: PaymentState; completedAt?: string; refunded?: string };
  /**
   * The difference, a decimal string that may be negative. With `amount_differs`: the amount of the statement
   * minus the stored amount. With `fee_differs`: the net amount minus the expected net amount. With
   * `payout_differs`: the payout minus the sum of its rows.
   */
  difference?: string;
  /**
   * With `refund_missing_here`: the key to give when a person records the refund, so that it is recorded only
   * once.
   */
  key?: string;
  /**
   * With `refund_missing_here`, instead of `key`: the key of a recorded refund of the same amount that no row
   * names. This refund may be the refund of the row, if an earlier statement was read with other columns or
   * another UTC offset. A person decides.
   */
  recordedKey?: string;
  /** With `fee_differs`: the fee of the row. */
  fee?: string;
  /** With `fee_differs`: the net amount of the row. */
  net?: string;
  /** With `payout_differs`: the id of the payout. */
  payout?: string;
  /**
   * With `paid_twice`: the clientId of the payment that fulfils the order. With `id_differs`: the other
   * clientId or service id. With `missing_here` and `unpaid_here`: the clientId of the only other payment
   * whose customer gave the number of the row.
   */
  other?: string;
  /** With `unmatched_row`, if the row is a payment and paid: at most five payments that fit the row. */
  candidates?: readonly Candidate[];
  /** With `bad_row` and `unmatched_row`: the problem of the row. */
  problem?: RowProblem;
}

/** Returns a finding with these fields, without the fields that are undefined or empty. */
export function newFinding(fields: {
  [Name in keyof StatementFinding]: StatementFinding[Name] | undefined;
}): StatementFinding {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(present) as unknown as StatementFinding;
}
