import { type DifferenceKind, type FindingKind } from "./finding.js";

/** A number of payments or rows, and their sum as a decimal string. */
export interface Sum {
  count: number;
  value: string;
}

/** Where the paid rows of a statement went: each is in exactly one of these, so they add up to `statement`. */
export type RowBucket = "matched" | Exclude<DifferenceKind, "missing_there" | "unpaid_there" | "paid_twice">;

/** The sums of one currency. */
export interface CurrencyTotals {
  currency: string;
  /** All rows that say paid. */
  statement: Sum;
  /** All payments that the books have completed in the period. */
  books: Sum;
  /** The paid rows of the statement by what became of them. */
  rows: Record<RowBucket, Sum>;
  missingThere: Sum;
  /** What the books have as completed, and the statement with another status. */
  unpaidThere: Sum;
  /** Payments beyond the first of their reference. They are among the others too. */
  paidTwice: Sum;
  /** Statement minus books, over the rows of `amount_differs`; may be negative. */
  amountDifference: string;
}

/** The sums of one provider channel in one currency. */
export interface ChannelTotals {
  /** As the statement has it; empty where it has none. */
  source: string;
  currency: string;
  statement: Sum;
  matched: Sum;
  /** Paid rows that are not matched. */
  differing: Sum;
}

/** What a run found, whole. */
export interface StatementSummary {
  /** Half-open; ISO 8601 UTC. Absent where the statement is empty and none was given. */
  period?: { from: string; to: string };
  rows: {
    /** All that were read, bad ones included; blank lines and comments are none. */
    read: number;
    bad: number;
    /** Of another shop, by `clientIdPrefix`: not compared. */
    foreign: number;
    /** Said neither paid here nor there. */
    unpaid: number;
    /** Dated outside of the period; compared like all others. */
    outsidePeriod: number;
    /** Paid, and the books say the same. */
    matched: number;
  };
  /** Payments that the books have completed in the period. */
  books: number;
  /** How many findings of each kind. */
  counts: Record<FindingKind, number>;
  /** The sum of the counts of all differences. */
  differences: number;
  /** Whether there is no difference and no bad row. */
  balanced: boolean;
  currencies: CurrencyTotals[];
  /** At most 200; what goes beyond is summed up under the source `"*"`. */
  channels: ChannelTotals[];
}
