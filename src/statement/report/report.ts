import { type StatementFinding } from "../finding.js";
import { type StatementSummary } from "../summary.js";

/** A report that grows with the run: what each call answers is to be written, in order. */
export interface StatementReport {
  /** The text that one finding adds; may be empty. */
  add(finding: StatementFinding): string;
  /** What remains to be written. */
  end(summary: StatementSummary): string;
}
