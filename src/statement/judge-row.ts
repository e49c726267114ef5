import { isDateTime } from "../shared/date-time.js";
import { quote } from "../shared/quote.js";
import { minorUnit } from "../model/currencies.js";
import { fitsCurrency, isAmount } from "../model/money.js";
import {
  type JudgedRow,
  type RowProblem,
  type RowProblemCode,
  type StatementRow,
  type UnreadableRow,
} from "./row.js";

/** Longest id that a row may carry; whoever maps a wrong column should learn of it. */
const longestId = 200;
/** Longest status and source. */
const longestText = 100;

/**
 * Decides whether a row can be compared. Total: whatever stands in it, the answer is the row or what is wrong with it.
 * `paidStatuses` are in lower case.
 */
export function judgeRow(
  row: StatementRow,
  line: number,
  paidStatuses: ReadonlySet<string>,
): JudgedRow | UnreadableRow {
  const problem = problemOf(row);
  if (problem) {
    const { clientId, serviceId } = row;
    return { line, problem, ...(isId(clientId) && { clientId }), ...(isId(serviceId) && { serviceId }) };
  }
  const status = row.status?.toLowerCase();
  return {
    ...row,
    line,
    // Bounded here, because it is only shown; what is longer is most likely a wrong column.
    providerId: row.providerId?.slice(0, longestId),
    time: row.time && new Date(row.time).toISOString(),
    paid: !status || paidStatuses.has(status),
  };
}

function problemOf({
  clientId,
  serviceId,
  value,
  currency,
  status,
  source,
  time,
}: StatementRow): RowProblem | undefined {
  if (!clientId && !serviceId)
    return problem("id_missing", "The row has neither a clientId nor a serviceId, so no payment is named.");
  for (const [name, id] of Object.entries({ clientId, serviceId }))
    if (id && !isId(id))
      return problem(
        "id_invalid",
        `${name} ${said(id)} is no id: at most ${longestId} characters, no control characters.`,
      );
  const amount = amountProblem(value, currency);
  if (amount) return amount;
  for (const [name, text] of Object.entries({ status, source }))
    if (text !== undefined && (typeof text !== "string" || text.length > longestText))
      return problem("text_invalid", `${name} ${said(text)} is longer than ${longestText} characters.`);
  if (time && (!isDateTime(time) || Number.isNaN(Date.parse(time))))
    return problem("time_invalid", `time ${said(time)} is not a date and time that exists.`);
  return undefined;
}

function amountProblem(value: unknown, currency: unknown): RowProblem | undefined {
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
    return problem(
      "currency_invalid",
      `currency ${said(currency)} is not three capital letters of ISO 4217.`,
    );
  if (typeof value === "string" && /^\s*(?:[-\u2212]|\(.*\)\s*$)/.test(value))
    return problem("value_negative", `value ${said(value)} is negative: refunds and fees are not payments.`);
  if (!isAmount(value))
    return problem("value_invalid", `value ${said(value)} is not a decimal such as "1475" or "10.50".`);
  if (fitsCurrency(value, currency)) return undefined;
  const unit = minorUnit(currency) ?? 4;
  return problem(
    "value_decimals",
    `value ${said(value)} has too many decimals: ${currency} has ${unit === 0 ? "none" : unit}.`,
  );
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && id.length <= longestId && !/\p{Cc}/u.test(id);
}

function said(value: unknown): string {
  return typeof value === "string"
    ? quote(value)
    : value === undefined
      ? "(nothing)"
      : `of type ${typeof value}`;
}

function problem(code: RowProblemCode, message: string): RowProblem {
  return { code, message };
}
