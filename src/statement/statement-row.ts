import { minorUnit } from "../model/currencies.js";
import { isDateTime, offsetMsOf } from "../shared/date-time.js";
import { fitsCurrency, isAmount, readSign } from "../model/money.js";
import { type Payment } from "../model/payment.js";
import { isKnownStatus } from "../model/status-order.js";
import { quote } from "../shared/quote.js";

/** One row of a settlement statement. Each row is checked before it is compared. */
export interface StatementRow {
  /** The line of the row in the file, for people. @default the number of the row, from 1 */
  line?: number | undefined;
  /**
   * The merchant's id of the payment. A row without a `clientId` and a `serviceId` must fit only one payment.
   * The row fits by its `providerId`, or by its amount and the day on which the payment was created.
   */
  clientId?: string | undefined;
  /** The service's id of the payment. */
  serviceId?: string | undefined;
  /**
   * The provider's reference. A row without ids can be matched by it, if the service reported this reference.
   */
  providerId?: string | undefined;
  /** The gross amount, a decimal string such as `"10.50"`. A negative amount is a refund or a reversal. */
  value: string;
  /** The fee of the row, a decimal string. The fee may be written with a minus. */
  fee?: string | undefined;
  /** The gross amount minus the fee, a decimal string. */
  net?: string | undefined;
  /**
   * The id of the payout that contains the row. A row with a payout id but without `clientId` and `serviceId`
   * is the payout itself, and its amount was paid out to the shop.
   */
  payout?: string | undefined;
  /** Three capital letters of ISO 4217. */
  currency: string;
  /** The status of the payment on the statement. A row without a status counts as paid. */
  status?: string | undefined;
  /** The provider channel. The summary has totals for each channel. */
  source?: string | undefined;
  /** The time in RFC 3339. Without the option `period`, the days of the rows' times are the period. */
  time?: string | undefined;
}

/** A row of the statement that could not be read. Reading continues with the next row. */
export interface UnreadableRow {
  /** The number of the line, from 1. */
  line: number;
  /** The reason why the row could not be read. */
  problem: RowProblem;
  /** The clientId, if it could be read. The payment with this clientId does not also count as missing. */
  clientId?: string | undefined;
  /** The service's id, if it could be read. */
  serviceId?: string | undefined;
}

/** The problem of a row. */
export interface RowProblem {
  /** The code, which is stable, for machines. */
  code: RowProblemCode;
  /** A sentence for people: the value of the row, and the expected form. */
  message: string;
}

/** Every code of a row that cannot be read. `docs/statement.md` describes each code. */
export const rowProblemCodes = [
  "encoding_invalid",
  "line_too_long",
  "quote_open",
  "quote_misplaced",
  "fields_count",
  "id_missing",
  "id_invalid",
  "value_invalid",
  "value_decimals",
  "currency_invalid",
  "text_invalid",
  "time_invalid",
] as const;

export type RowProblemCode = (typeof rowProblemCodes)[number];

/** A payment that a row may be about. */
export type Candidate = Pick<Payment, "clientId" | "reference" | "state">;

/** The beginning of the message about a row without ids. */
export const withoutIds = "The row has neither a clientId nor a serviceId";

/** A row, with `unmatched` if it has no ids and does not fit exactly one payment. */
export interface NamedRow extends StatementRow {
  unmatched?: { problem: RowProblem; candidates: readonly Candidate[] };
}

/** A row that can be compared. */
export interface CheckedRow extends NamedRow {
  line: number;
  kind: "payment" | "refund" | "payout";
  /** Whether the statement says that the payment was paid, or that the money of the refund went back. */
  paid: boolean;
  /** The UTC offset with which the time was written, in milliseconds. 0 if the row has no time. */
  utcOffsetMs: number;
}

/** The maximum length of an id. A longer text most likely comes from the wrong column. */
const maxIdLength = 200;
const maxTextLength = 100;

/** Returns the row with its time in UTC, or its problem. `paidStatuses` are in lower case. Never throws. */
export function checkRow(
  row: NamedRow,
  line: number,
  paidStatuses: ReadonlySet<string>,
): CheckedRow | UnreadableRow {
  const { clientId, serviceId, payout } = row;
  const kind = payout && !clientId && !serviceId ? "payout" : isNegative(row.value) ? "refund" : "payment";
  const problem = problemOf(row, kind);
  if (problem) return withValidIds({ line, problem, clientId, serviceId });
  const status = row.status?.toLowerCase();
  return {
    ...row,
    line,
    kind,
    // The kind shows that a refund is negative. The amount of a payout keeps its sign.
    value: kind === "refund" ? readSign(row.value).unsigned : signed(row.value),
    ...(row.fee && { fee: signed(row.fee) }),
    ...(row.net && { net: signed(row.net) }),
    // The providerId no longer selects a payment. So a long providerId is shortened and not reported as a
    // problem.
    providerId: row.providerId?.slice(0, maxIdLength),
    time: row.time && new Date(row.time).toISOString(),
    utcOffsetMs: row.time ? offsetMsOf(row.time) : 0,
    paid: !status || paidStatuses.has(status) || (kind === "refund" && refundWords.has(status)),
  };
}

/** Words for a refund. As a status of a row with a negative amount, they mean "paid". */
export const refundWords: ReadonlySet<string> = new Set([
  "refunded",
  "refund",
  "reversed",
  "reversal",
  "chargeback",
]);

/** Statuses that mean "not paid", besides those of the service. They contain letters only. */
const unpaidStatuses: ReadonlySet<string> = new Set(
  `aborted abandoned authorized blocked chargeback created declined error inprogress incomplete initiated new
  open pendingapproval processing refunded refused rejected reversed started timedout timeout unpaid unsuccessful
  void voided waiting`.split(/\s+/),
);

/** Returns whether a status is known to mean "not paid". */
export function meansUnpaid(status: string): boolean {
  const plain = status.toLowerCase().replaceAll(/[^\p{L}]/gu, "");
  return isKnownStatus(plain) || unpaidStatuses.has(plain);
}

function isNegative(value: unknown): boolean {
  return typeof value === "string" && readSign(value).isNegative;
}

/** Returns an amount with a plain minus sign before it if the amount is negative. */
function signed(value: string): string {
  const { isNegative: hasSign, unsigned } = readSign(value);
  return hasSign ? `-${unsigned}` : unsigned;
}

/** Returns the row without the ids that are invalid. */
export function withValidIds({ clientId, serviceId, ...row }: UnreadableRow): UnreadableRow {
  return { ...row, ...(isId(clientId) && { clientId }), ...(isId(serviceId) && { serviceId }) };
}

function problemOf(row: NamedRow, kind: CheckedRow["kind"]): RowProblem | undefined {
  const { clientId, serviceId, payout, value, fee, net, currency, status, source, time } = row;
  if (row.providerId && typeof row.providerId !== "string")
    return problem("id_invalid", `providerId ${quotedValue(row.providerId)} is not an id.`);
  if (!clientId && !serviceId && kind !== "payout" && !row.unmatched)
    return problem("id_missing", `${withoutIds}, and no amount and time to find the payment.`);
  for (const [name, id] of Object.entries({ clientId, serviceId, payout }))
    if (id && !isId(id))
      return problem(
        "id_invalid",
        `${name} ${quotedValue(id)} is not an id: at most ${maxIdLength} characters, no control characters.`,
      );
  for (const [name, amount] of Object.entries({ value, fee, net })) {
    const wrong = name === "value" || amount ? amountProblem(name, amount, currency) : undefined;
    if (wrong) return wrong;
  }
  for (const [name, text] of Object.entries({ status, source }))
    if (text !== undefined && (typeof text !== "string" || text.length > maxTextLength))
      return problem(
        "text_invalid",
        `${name} ${quotedValue(text)} is longer than ${maxTextLength} characters.`,
      );
  const isTime = !time || (isDateTime(time) && isInYears(Date.parse(time)));
  if (!isTime)
    return problem(
      "time_invalid",
      `time ${quotedValue(time)} does not exist, or needs the timeFormat day-first or month-first (--time-format).`,
    );
  return undefined;
}

/** Returns whether the day of a time is in years of four digits, as in stored times. False for `NaN`. */
function isInYears(ms: number): boolean {
  return ms > Date.parse("0001-01-01T00:00:00Z") && ms < Date.parse("9999-12-30T00:00:00Z");
}

function amountProblem(name: string, given: unknown, currency: unknown): RowProblem | undefined {
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
    return problem(
      "currency_invalid",
      `currency ${quotedValue(currency)} is not three capital letters of ISO 4217.`,
    );
  const value = typeof given === "string" ? readSign(given).unsigned : given;
  if (!isAmount(value))
    return problem(
      "value_invalid",
      `${name} ${quotedValue(given)} is not a decimal such as "1475" or "10.50"${needsSeparators(given) ? ", or needs other separators (--decimal, --group)" : ""}.`,
    );
  if (fitsCurrency(value, currency)) return undefined;
  const decimals = (minorUnit(currency) ?? 4) || "none";
  return problem(
    "value_decimals",
    `${name} ${quotedValue(given)} has too many decimals: amounts in ${currency} have ${decimals}.`,
  );
}

function needsSeparators(value: unknown): boolean {
  return typeof value === "string" && /\d[^\da-z]+\d/i.test(value);
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && id.length <= maxIdLength && !/\p{Cc}/u.test(id);
}

function quotedValue(value: unknown): string {
  if (typeof value === "string") return quote(value);
  return value === undefined ? "(nothing)" : `of type ${typeof value}`;
}

function problem(code: RowProblemCode, message: string): RowProblem {
  return { code, message };
}
