import { type ReconcileOptions, resolveReconcileOptions, runOf } from "../operations/reconcile.js";
import { type StatementRows, type StatementRun } from "../statement/index.js";
import { type PaymentStore } from "../store/index.js";

/** Does what `reconcileStatement` does. The options are checked now, and the code is loaded when the run is read. */
export function reconcile(store: PaymentStore, rows: StatementRows, given: ReconcileOptions): StatementRun {
  const options = resolveReconcileOptions(given);
  async function* findings() {
    const statement = await import("../statement/reconcile-statement.js");
    return yield* statement.findings(store, rows, options);
  }
  return runOf(findings());
}
