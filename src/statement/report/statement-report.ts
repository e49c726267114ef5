import { csvLine, type CsvCell } from "../../shared/csv-line.js";
import { type StatementFinding } from "../result/finding.js";
import { type StatementSummary } from "../result/summary.js";

/** Writes a report of a run, piece by piece. Each call returns the text that comes next. */
export interface StatementReport {
  /** Returns the text of a finding. */
  add(finding: StatementFinding): string;
  /** Returns the end of the report, with the summary. */
  end(summary: StatementSummary): string;
}

const columns: readonly (readonly [name: string, cell: (finding: StatementFinding) => CsvCell])[] = [
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
  ["stored_value", ({ stored }) => stored?.value],
  ["stored_currency", ({ stored }) => stored?.currency],
  ["stored_state", ({ stored }) => stored?.state],
  ["stored_completed_at", ({ stored }) => stored?.completedAt],
  ["difference", ({ difference }) => difference],
  ["fee", ({ fee }) => fee],
  ["net", ({ net }) => net],
  ["payout", ({ payout }) => payout],
  ["key", ({ key }) => key],
  ["other", ({ other }) => other],
  ["problem", ({ problem }) => problem?.code],
  ["problem_message", ({ problem }) => problem?.message],
];

/** Makes a report of all findings as CSV (RFC 4180, UTF-8, CRLF) with a header. */
export function csvReport(): StatementReport {
  let header = csvLine(columns.map(([name]) => name));
  const withHeader = (text: string): string => {
    const written = header + text;
    header = "";
    return written;
  };
  return {
    add: (finding) => withHeader(csvLine(columns.map(([, cell]) => cell(finding)))),
    end: () => withHeader(""),
  };
}

/** Makes a report as a JSON document with a line for each finding: `{ "findings": […], "summary": {…} }`. */
export function jsonReport(): StatementReport {
  let before = '{"findings":[\n';
  return {
    add: (finding) => {
      const text = before + JSON.stringify(finding);
      before = ",\n";
      return text;
    },
    end: (summary) => `${before === ",\n" ? "\n" : before}],\n"summary":${JSON.stringify(summary)}}\n`,
  };
}
