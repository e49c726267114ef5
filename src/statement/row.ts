/** One line of a settlement statement, as its reader or the application hands it in. Judged before it is compared. */
export interface StatementRow {
  /** Where it stands in the statement, for people. Counted from 1 where it is absent. */
  line?: number | undefined;
  /** The merchant's id of the payment. This one or `serviceId` must be there. */
  clientId?: string | undefined;
  /** The service's id of the payment. */
  serviceId?: string | undefined;
  /** The provider's reference. Only shown: the books do not hold it. */
  providerId?: string | undefined;
  /** Decimal string: `"1475"`, `"10.50"`. */
  value: string;
  /** Three capital letters of ISO 4217. */
  currency: string;
  /** What the statement says became of the payment. Without one the row counts as paid. */
  status?: string | undefined;
  /** The provider channel; totals are kept for each. */
  source?: string | undefined;
  /** RFC 3339. */
  time?: string | undefined;
}

/** A line of the statement that could not be read; the rest is read on. */
export interface UnreadableRow {
  line: number;
  problem: RowProblem;
  /** Ids that could be read all the same, so that the payment does not also count as missing. */
  clientId?: string | undefined;
  serviceId?: string | undefined;
}

/** What is wrong with a row. */
export interface RowProblem {
  code: RowProblemCode;
  /** For people: what stands there, and what was expected. */
  message: string;
}

/** Every reason for which a row is listed as bad. `docs/statement.md` has a row for each. */
export const rowProblemCodes = [
  "encoding_invalid",
  "line_too_long",
  "quote_open",
  "quote_misplaced",
  "fields_count",
  "id_missing",
  "id_invalid",
  "value_invalid",
  "value_negative",
  "value_decimals",
  "currency_invalid",
  "text_invalid",
  "time_invalid",
] as const;

export type RowProblemCode = (typeof rowProblemCodes)[number];

/** A row that can be compared. */
export interface JudgedRow extends StatementRow {
  line: number;
  /** Whether the statement says that the money came. */
  paid: boolean;
}
