import { type ReconcileOptions, resolveReconcileOptions } from "../operations/reconcile-options.js";
import { type StatementRows, type StatementRun } from "../statement/index.js";
import { type PaymentStore } from "../store/index.js";

/** Does what `reconcileStatement` does. The options are checked now, and the code is loaded when the run is read. */
export function reconcile(store: PaymentStore, rows: StatementRows, options: ReconcileOptions): StatementRun {
  const resolved = resolveReconcileOptions(options);
  let run: StatementRun | undefined;
  async function load(): Promise<StatementRun> {
    const { startRun } = await import("../statement/reconcile-statement.js");
    return (run ??= startRun(store, rows, resolved));
  }
  return {
    async *[Symbol.asyncIterator]() {
      yield* await load();
    },
    summary: async () => (await load()).summary(),
  };
}
