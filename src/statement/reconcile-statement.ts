import { type PaymentStore } from "../store/payment-store.js";
import { compareRow } from "./compare-row.js";
import { describeRow } from "./describe-finding.js";
import { type StatementFinding } from "./finding.js";
import { inBatches } from "./in-batches.js";
import { judgeRow } from "./judge-row.js";
import { Ledger } from "./ledger.js";
import { lookUp, type Lookup } from "./look-up.js";
import { rowMark } from "./marks.js";
import { type ReconcileOptions, resolveReconcileOptions, type ResolvedReconcileOptions } from "./options.js";
import { readBooks } from "./read-books.js";
import { type JudgedRow, type StatementRow, type UnreadableRow } from "./row.js";
import { StatementRun } from "./statement-run.js";
import { type RowBucket, type StatementSummary } from "./summary.js";
import { tellPaidTwice, tellSides } from "./tell-sides.js";

/** Rows that are looked up at once. */
const batchRows = 500;

/** Rows of a statement: from `readStatement`, or from anywhere else. */
export type StatementRows =
  Iterable<StatementRow | UnreadableRow> | AsyncIterable<StatementRow | UnreadableRow>;

/**
 * Compares a settlement statement with the books, in bounded memory however long either is: rows are looked up in batches as
 * they come; what can only be told from the whole (what is on one side only, or twice) from short marks that are sorted
 * outside of memory. Reads the store, and writes nothing to it.
 *
 * The run fails with `option_invalid`, `statement_period_missing`, `statement_unreadable`, `statement_columns_unclear`,
 * `store_method_missing`, or with what the store or the rows throw.
 *
 * @throws TillkitError `option_invalid`
 */
export function reconcileStatement(
  store: PaymentStore,
  rows: StatementRows,
  options: ReconcileOptions = {},
): StatementRun {
  return new StatementRun(findings(store, rows, resolveReconcileOptions(options)));
}

async function* findings(
  store: PaymentStore,
  rows: StatementRows,
  options: ResolvedReconcileOptions,
): AsyncGenerator<StatementFinding, StatementSummary, undefined> {
  const ledger = new Ledger(options);
  try {
    for await (const batch of inBatches(rows, batchRows)) yield* compareBatch(store, ledger, batch, options);
    const period = ledger.period();
    await readBooks(store, ledger, period, options);
    yield* tellSides(store, ledger, period, options);
    yield* tellPaidTwice(ledger);
    return ledger.summary(period);
  } finally {
    await ledger.remove();
  }
}

async function* compareBatch(
  store: PaymentStore,
  ledger: Ledger,
  batch: readonly (StatementRow | UnreadableRow)[],
  options: ResolvedReconcileOptions,
): AsyncGenerator<StatementFinding, void, undefined> {
  const judged: (JudgedRow | UnreadableRow)[] = [];
  for (const row of batch) {
    ledger.rows.read += 1;
    const one = "problem" in row ? row : judgeRow(row, row.line ?? ledger.rows.read, options.paidStatuses);
    if (isForeign(one, options.clientIdPrefix)) ledger.rows.foreign += 1;
    else judged.push(one);
  }
  const lookup = await lookUp(store, judged);
  for (const row of judged)
    yield* "problem" in row ? badRow(ledger, row, lookup) : goodRow(ledger, row, lookup);
  ledger.report("statement");
}

function isForeign({ clientId }: { clientId?: string | undefined }, prefix: string | undefined): boolean {
  return prefix !== undefined && clientId !== undefined && clientId !== "" && !clientId.startsWith(prefix);
}

async function* badRow(
  ledger: Ledger,
  { line, problem, clientId, serviceId }: UnreadableRow,
  lookup: Lookup,
): AsyncGenerator<StatementFinding, void, undefined> {
  ledger.rows.bad += 1;
  ledger.count("bad_row");
  const { byClientId, byServiceId } = lookup.named({ clientId, serviceId });
  const payment = byClientId ?? byServiceId;
  // It names the payment: that its row is bad must not also make it missing.
  if (payment) await ledger.marks.add(rowMark({ line, value: "", currency: "" }, "bad", payment));
  yield { kind: "bad_row", line, problem, ...(clientId && { clientId }), ...(serviceId && { serviceId }) };
}

async function* goodRow(
  ledger: Ledger,
  row: JudgedRow,
  lookup: Lookup,
): AsyncGenerator<StatementFinding, void, undefined> {
  ledger.noteTime(row);
  const { payment, kinds, other } = compareRow(row, lookup.named(row));
  if (!row.paid && kinds.length === 0) ledger.rows.unpaid += 1;
  for (const kind of kinds) ledger.count(kind);
  const bucket = bucketOf(row, kinds[0]);
  if (bucket !== "unpaid" && bucket !== "matched") ledger.totals.addRow(bucket, row, row.source);
  if (payment && kinds.includes("amount_differs") && row.paid)
    ledger.totals.addDifference(row, payment.total);
  if (payment && kinds.includes("unpaid_there")) ledger.totals.addPayment("unpaidThere", payment.total);
  await ledger.marks.add(rowMark(row, bucket, payment));
  if (payment && (row.paid || payment.state === "completed")) await ledger.markSiblings(payment, lookup, row);
  for (const kind of kinds) yield describeRow(kind, row, payment, other);
}

/** The one place where the money of a row is counted; of rows that say "not paid" there is none. */
function bucketOf({ paid }: JudgedRow, gravest: string | undefined): RowBucket | "unpaid" {
  return paid ? ((gravest ?? "matched") as RowBucket) : "unpaid";
}
