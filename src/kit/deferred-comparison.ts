import {
  type StatementOptions,
  resolveStatementOptions,
  statementRun,
} from "../operations/statement-options.js";
import { type StatementRows, type StatementRun } from "../statement/index.js";
import { type PaymentStore } from "../store/index.js";

/** Does the work of `compareStatement`. Checks the options now, and loads the code at the first read. */
export function deferredComparison(
  store: PaymentStore,
  rows: StatementRows,
  given: StatementOptions,
): StatementRun {
  const options = resolveStatementOptions(given);
  async function* findings() {
    const statement = await import("../statement/compare-statement.js");
    return yield* statement.findings(store, rows, options);
  }
  return statementRun(findings());
}
