export { type ColumnChoice, type StatementField, statementFields } from "./csv/columns.js";
export { type Bytes } from "./csv/lines.js";
export { type CellOptions } from "./csv/read-cells.js";
export { type DifferenceKind, differenceKinds, type FindingKind, type StatementFinding } from "./finding.js";
export { type ReconcileOptions, type StatementProgress } from "./options.js";
export {
  csvReport,
  htmlReport,
  type HtmlReportOptions,
  jsonReport,
  type StatementReport,
} from "./report/index.js";
export { readStatement, type StatementFormat } from "./read-statement.js";
export { reconcileStatement, type StatementRows } from "./reconcile-statement.js";
export {
  type RowProblem,
  type RowProblemCode,
  rowProblemCodes,
  type StatementRow,
  type UnreadableRow,
} from "./row.js";
export { type StatementRun } from "./statement-run.js";
export {
  type ChannelTotals,
  type CurrencyTotals,
  type RowBucket,
  type StatementSummary,
  type Sum,
} from "./summary.js";
