import { setImmediate as iteration } from "node:timers/promises";
import {
  type HistoryEntry,
  type PaymentHistory,
  type PaymentQuery,
  type Payments,
  type PaymentState,
} from "../../index.js";
import { csvLine } from "../../shared/csv-line.js";
import { type RunAction } from "../terminal/actions.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments } from "../terminal/command.js";
import { timeOption } from "../terminal/option-values.js";
import { allPayments, clientIdNamed, wholeHistory } from "./find.js";

/** The options that select payments. */
export const selection = ["state", "reference", "from", "to"];

const actionFields = ["action", "did", "by", "reason", "before", "after", "receiptId", "eventId"] as const;
const header = ["clientId", "order", "amount", "currency", "state", "at", "kind", ...actionFields, "text"];

/**
 * Prints the history of each selected payment, as CSV or, with `--json`, as one JSON document for each
 * payment.
 */
export const exportHistories: RunAction = async (payments, args, { output }) => {
  const ignored = args.object === undefined ? undefined : selection.find((name) => args.has(name));
  if (ignored !== undefined) throw optionError(`--${ignored} cannot be used with the name of one payment.`);
  const isJson = args.has("json");
  const printLine = (cells: Parameters<typeof csvLine>[0]): void => output.print(csvLine(cells).trimEnd());
  let count = 0;
  if (!isJson) printLine(header);
  for await (const clientId of selectedIds(payments, args)) {
    // A stream reports its errors only between iterations of the event loop.
    await iteration();
    if (output.isClosed) break;
    const history = await wholeHistory(payments, clientId);
    if (!history.payment && history.entries.length === 0) continue;
    count += 1;
    output.printJson(history);
    if (!isJson) for (const entry of history.entries) printLine(cellsOf(history, entry));
  }
  output.log(count === 0 ? "No payment was found." : `${count} ${count === 1 ? "payment" : "payments"}.`);
  return count === 0 ? 1 : 0;
};

async function* selectedIds(payments: Payments, args: Arguments): AsyncGenerator<string, void, undefined> {
  if (args.object !== undefined) yield clientIdNamed(payments, args.object);
  else
    for await (const one of allPayments(payments, { ...queryOf(args), first: "oldest" })) yield one.clientId;
}

function cellsOf({ clientId, payment }: PaymentHistory, entry: HistoryEntry): Parameters<typeof csvLine>[0] {
  const fields = entry as Partial<Record<(typeof actionFields)[number], string>>;
  const { reference, total, state } = payment ?? {};
  const about = [clientId, reference, total?.value, total?.currency, state, entry.at, entry.kind];
  return [...about, ...actionFields.map((name) => fields[name]), entry.text];
}

/** Returns the query of the options that select payments. */
export function queryOf(args: Arguments): PaymentQuery {
  return {
    state: args.get("state") as PaymentState | undefined,
    reference: args.get("reference"),
    from: timeOption(args, "from"),
    to: timeOption(args, "to"),
  };
}
