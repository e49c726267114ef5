/**
 * Settlement statements, compared with the stored payments.
 *
 * @module tillkit/statement
 */

export { type ColumnChoice, type StatementField, statementFields } from "./csv/columns.js";
export { type Bytes } from "./csv/lines.js";
export { type CellOptions } from "./csv/read-cells.js";
export {
  type DifferenceKind,
  differenceKinds,
  type FindingKind,
  type StatementFinding,
} from "./result/finding.js";
export { type StatementOptions, type StatementProgress } from "../operations/statement-options.js";
export { htmlReport, type HtmlReportOptions } from "./report/html-report.js";
export { csvReport, jsonReport, type StatementReport } from "./report/statement-report.js";
export { readStatement, type StatementFormat } from "./read-statement.js";
export { compareStatement, type StatementRows, type StatementRun } from "./compare-statement.js";
export {
  type Candidate,
  type RowProblem,
  type RowProblemCode,
  rowProblemCodes,
  type StatementRow,
  type UnreadableRow,
} from "./statement-row.js";
export {
  type ChannelTotals,
  type CurrencyTotals,
  type RowBucket,
  type StatementSummary,
  type Sum,
} from "./result/summary.js";
