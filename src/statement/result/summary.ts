import { type DifferenceKind, type FindingKind } from "./finding.js";

/** A number of payments or rows, and their sum as a decimal string. */
export interface Sum {
  /** The number of payments or rows. */
  count: number;
  /** The sum of their amounts: a decimal string. */
  value: string;
}

/**
 * The groups of paid rows, without refunds and payouts. Each row is in exactly one group, so the groups add
 * up to `statement`.
 */
export type RowBucket =
  | "matched"
  | Exclude<
      DifferenceKind,
      | "missing_there"
      | "unpaid_there"
      | "paid_twice"
      | "refund_missing_here"
      | "fee_differs"
      | "payout_differs"
    >;

/** The sums of one currency. */
export interface CurrencyTotals {
  /** Three capital letters of ISO 4217. */
  currency: string;
  /** All paid rows, without refunds and payouts. */
  statement: Sum;
  /** All payments that were completed in the period. */
  stored: Sum;
  /** The paid rows of the statement, by group. */
  rows: Record<RowBucket, Sum>;
  /**
   * Payments that were completed in the period and that no row lists, except those in `onOtherStatements`.
   */
  missingThere: Sum;
  /** Completed payments that the statement lists with a status that does not mean "paid". */
  unpaidThere: Sum;
  /** Paid payments of a reference after the first paid payment. The other sums contain them too. */
  paidTwice: Sum;
  /** Payments of `at_edge` and `accepted_here`, whose rows may be on other statements. */
  onOtherStatements: Sum;
  /** Matched rows of payments that were completed outside of the period. `stored` does not contain them. */
  ofOtherDays: Sum;
  /** The rows of refunds and reversals. */
  refunds: Sum;
  /** The rows with a fee, and the sum of their fees. */
  fees: Sum;
  /** The rows of payments and refunds, and the sum of their net amounts. */
  net: Sum;
  /** The payouts that the statement lists. */
  payouts: Sum;
  /** The paid amounts minus the stored amounts, summed over the rows of `amount_differs`. May be negative. */
  amountDifference: string;
}

/** The sums of one provider channel in one currency. */
export interface ChannelTotals {
  /** The name of the channel on the statement. Empty if the rows have none. */
  source: string;
  /** The currency of the sums. */
  currency: string;
  /** All paid rows of the channel, without refunds and payouts. */
  statement: Sum;
  /** Paid rows that agree with the stored payment. */
  matched: Sum;
  /** Paid rows that are not matched. */
  differing: Sum;
}

/** Counts and sums of a whole run. */
export interface StatementSummary {
  /** The half-open period in ISO 8601 UTC. `compareStatement` always sets it. */
  period?: { from: string; to: string };
  /** The numbers of rows. */
  rows: {
    /** All rows that were read, with the bad ones. Blank lines and comments are not rows. */
    read: number;
    bad: number;
    /** Rows of another shop, by `clientIdPrefix`. These rows are not compared. */
    foreign: number;
    /** Rows that are unpaid on both sides. */
    unpaid: number;
    /** Rows with a time outside of the period. These rows are compared like other rows. */
    outsidePeriod: number;
    /** Paid rows that agree with the stored payment. */
    matched: number;
  };
  /** The lines of the first 20 rows of other shops. */
  foreignLines: number[];
  /** The sum of the paid payments in rows of another shop, for each currency. */
  foreignSums: (Sum & { currency: string })[];
  /** The number of payments that were completed in the period. */
  stored: number;
  /** The number of findings of each kind. */
  counts: Record<FindingKind, number>;
  /** The number of all differences. */
  differences: number;
  /** Whether there is no difference and no bad row. */
  balanced: boolean;
  /** The sums of each currency. */
  currencies: CurrencyTotals[];
  /** The sums of at most 200 channels. Further channels are added up under the source `"*"`. */
  channels: ChannelTotals[];
}
