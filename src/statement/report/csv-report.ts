import { type StatementFinding } from "../finding.js";
import { type StatementReport } from "./report.js";

/** The columns, in order, and what stands in them. */
const columns: readonly (readonly [
  name: string,
  cell: (finding: StatementFinding) => string | number | undefined,
])[] = [
  ["kind", ({ kind }) => kind],
  ["line", ({ line }) => line],
  ["first_line", ({ firstLine }) => firstLine],
  ["client_id", ({ clientId }) => clientId],
  ["service_id", ({ serviceId }) => serviceId],
  ["provider_id", ({ providerId }) => providerId],
  ["reference", ({ reference }) => reference],
  ["source", ({ source }) => source],
  ["statement_value", ({ statement }) => statement?.value],
  ["statement_currency", ({ statement }) => statement?.currency],
  ["statement_status", ({ statement }) => statement?.status],
  ["statement_time", ({ statement }) => statement?.time],
  ["books_value", ({ books }) => books?.value],
  ["books_currency", ({ books }) => books?.currency],
  ["books_state", ({ books }) => books?.state],
  ["books_completed_at", ({ books }) => books?.completedAt],
  ["difference", ({ difference }) => difference],
  ["other", ({ other }) => other],
  ["problem", ({ problem }) => problem?.code],
  ["problem_message", ({ problem }) => problem?.message],
];

/** All findings as CSV (RFC 4180, UTF-8, CRLF), under a header. */
export function csvReport(): StatementReport {
  let header = lineOf(columns.map(([name]) => name));
  const withHeader = (text: string): string => {
    const whole = header + text;
    header = "";
    return whole;
  };
  return {
    add: (finding) => withHeader(lineOf(columns.map(([, cell]) => cell(finding)))),
    end: () => withHeader(""),
  };
}

function lineOf(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: string | number | undefined): string {
  if (value === undefined) return "";
  const text = inert(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A spreadsheet takes what begins so for a formula, and a statement may have been written by somebody else. A plain negative
 * number is none.
 */
function inert(text: string): string {
  return /^[=+\-@\t\r\n]/.test(text) && !/^-\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}
