import { type Payments, type RevivedOutcome } from "../../index.js";
import { type ExitCode } from "../terminal/command.js";
import { type Output } from "../terminal/output.js";
import { printColumns } from "../terminal/table.js";

/** The maximum number of clientIds in one call of the store. */
const maxIds = 500;

const stateTexts = { pending: "waits", leased: "runs", done: "done", dead: "dead again", retired: "retired" };

/** Prints the results of the dispatches that one retry queued, and lists the dispatches that are not done. */
export async function printRun(payments: Payments, run: string, output: Output): Promise<ExitCode> {
  const outcome = await payments.revivedDispatches(run);
  const { done, dead, waiting, retired, dispatches } = outcome;
  output.printJson({ dryRun: true, run, outcome });
  await printDispatches(payments, dispatches, output);
  if (done + dead + waiting + retired === 0)
    output.print("No run has this id, or all of its dispatches are of a later run now.");
  output.print(`Run ${run}: ${done} done, ${dead} dead again, ${waiting} not finished, ${retired} retired.`);
  return 0;
}

/** Prints dispatches with their orders. Errors are not cut, because they often differ only at their ends. */
export async function printDispatches(
  payments: Payments,
  dispatches: RevivedOutcome["dispatches"],
  output: Output,
): Promise<void> {
  if (dispatches.length === 0) return;
  const orders = new Map<string, string>();
  const ids = [...new Set(dispatches.flatMap(({ clientId }) => clientId ?? []))];
  for (let start = 0; start < ids.length; start += maxIds) {
    const found = await payments.store.findMany({ clientIds: ids.slice(start, start + maxIds) });
    for (const { clientId, reference } of found) orders.set(clientId, reference);
  }
  const isDead = dispatches.every(({ state }) => state === "dead");
  const first = isDead ? "died (UTC)" : "state";
  printColumns(
    output,
    [first, "order", "event", "payment", "handler"],
    dispatches.map((one) => [
      isDead ? (one.settledAt?.slice(0, 16).replace("T", " ") ?? "") : stateTexts[one.state],
      orders.get(one.clientId ?? "") ?? "",
      one.type,
      one.clientId ?? "no payment",
      one.handler,
    ]),
    [first, "event", "payment", "handler"],
    dispatches.map(({ error = "" }, index) => (dispatches[index - 1]?.error === error ? "" : error)),
  );
}
