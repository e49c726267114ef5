import { isOfShop, receivedOf } from "../model/attempts.js";
import { type PaymentStore } from "../store/contract.js";
import { compareRow, describeDifference } from "./comparison/compare-row.js";
import { compareSortedEntries, findPaidTwice } from "./comparison/compare-sorted-entries.js";
import { createRowNamer } from "./comparison/name-rows.js";
import { newFinding, type StatementFinding } from "./result/finding.js";
import {
  invalidOption,
  type StatementOptions,
  resolveStatementOptions,
  type ResolvedStatementOptions,
  statementRun,
} from "../operations/statement-options.js";
import { RunState } from "./comparison/run-state.js";
import { refundRowKey } from "./comparison/refund-rows.js";
import { rowEntry } from "./comparison/sort-entries.js";
import { addFees, addToPayout, findPayouts } from "./comparison/tie-out.js";
import {
  type CheckedRow,
  checkRow,
  type NamedRow,
  type StatementRow,
  type UnreadableRow,
} from "./statement-row.js";
import {
  addCompletedPayments,
  findPayments,
  nameClaimants,
  type StoredPayments,
} from "./comparison/stored-payments.js";
import { type RowBucket, type StatementSummary } from "./result/summary.js";

const rowsPerBatch = 500;

/** The rows of a statement: from `readStatement`, or from any other source. */
export type StatementRows =
  Iterable<StatementRow | UnreadableRow> | AsyncIterable<StatementRow | UnreadableRow>;

/**
 * The comparison of one statement. Iterate the run for its findings. Findings that need only one row come
 * first, in the order of the rows. Then call `summary`. A run can be read once.
 *
 * @example
 * ```ts
 * const run = payments.compareStatement(readStatement(createReadStream("may.csv")));
 * for await (const finding of run) console.log(finding.kind, finding.clientId);
 * const { balanced, currencies } = await run.summary();
 * ```
 */
export interface StatementRun extends AsyncIterable<StatementFinding> {
  /**
   * Reads the rest of the statement, and resolves to counts and sums. Rejects with the error that stopped the
   * run. Also rejects if the caller left the loop over the findings early.
   */
  summary(): Promise<StatementSummary>;
}

/**
 * Compares a settlement statement with the stored payments, in bounded memory. Writes nothing to the store.
 *
 * The run fails with `statement_period_missing` or `statement_unreadable`. The run fails with
 * `option_invalid` if the period or the given prefix is probably wrong, if a limit is too wide, or if a row's
 * status is not known. The run also fails with an error of the store, of the rows or of the signal.
 *
 * @throws TillkitError `option_invalid` if an argument or an option is not valid
 */
export function compareStatement(
  store: PaymentStore,
  rows: StatementRows,
  options: StatementOptions = {},
): StatementRun {
  if (typeof (store as Partial<PaymentStore> | undefined)?.list !== "function")
    throw invalidOption("compareStatement takes a store and the rows of readStatement.");
  const isSource = (by: symbol): boolean => by in (Object(rows) as object);
  if (!isSource(Symbol.asyncIterator) && !isSource(Symbol.iterator))
    throw invalidOption("The rows must be those of readStatement, or others that can be iterated.");
  return statementRun(findings(store, rows, resolveStatementOptions(options)));
}

/** Yields the findings of a run, and returns its summary. */
export async function* findings(
  store: PaymentStore,
  rows: StatementRows,
  options: ResolvedStatementOptions,
): AsyncGenerator<StatementFinding, StatementSummary, undefined> {
  const run = new RunState(options);
  try {
    const named = createRowNamer(store, options.clientIdPrefix);
    for await (const batch of inBatches(rows))
      yield* compareBatch(store, run, await Promise.all(batch.map(named)), options);
    run.expectKnownStatuses();
    const period = run.period();
    await addCompletedPayments(store, run, period, options);
    run.expectPeriod(period);
    yield* compareSortedEntries(store, run, period);
    yield* findPaidTwice(run);
    yield* findPayouts(run);
    return run.summary(period);
  } finally {
    await run.remove();
  }
}

async function* inBatches<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
): AsyncGenerator<Row[], void, undefined> {
  let batch: Row[] = [];
  for await (const row of rows) {
    if (batch.push(row) < rowsPerBatch) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function* compareBatch(
  store: PaymentStore,
  run: RunState,
  batch: readonly (NamedRow | UnreadableRow)[],
  options: ResolvedStatementOptions,
): AsyncGenerator<StatementFinding, void, undefined> {
  const checked = batch.map((row) => {
    run.rows.read += 1;
    return "problem" in row ? row : checkRow(row, row.line ?? run.rows.read, options.paidStatuses);
  });
  const stored = await findPayments(store, checked);
  const found: StatementFinding[] = [];
  for (const row of checked) {
    const isRead = !("problem" in row);
    // One payout may be for several shops, so rows of other shops also belong to its sum.
    if (isRead && row.payout) await addToPayout(run, row);
    if (isForeign(row, stored, options.clientIdPrefix)) run.addForeign(row);
    else if (isRead) found.push(...(await addRow(run, row, stored)));
    else found.push(await addBadRow(run, row, stored));
  }
  await nameClaimants(store, found);
  yield* found;
  run.reportProgress("statement");
}

/**
 * Returns whether a row names another shop's payment. An adopted payment is always this shop's. A row with
 * another shop's clientId and the service id of this shop's payment is not foreign, because a person must
 * find out whose payment it is. Capitals do not count, because a spreadsheet may have changed them.
 */
function isForeign(row: CheckedRow | UnreadableRow, stored: StoredPayments, prefix = ""): boolean {
  if (!row.clientId || row.clientId.toLowerCase().startsWith(prefix.toLowerCase())) return false;
  const { byClientId, byServiceId } = stored.matching(row);
  const payment = byClientId ?? byServiceId;
  return payment === undefined || !isOfShop(payment, prefix);
}

async function addBadRow(
  run: RunState,
  row: UnreadableRow,
  stored: StoredPayments,
): Promise<StatementFinding> {
  const { line, problem, clientId, serviceId } = row;
  run.rows.bad += 1;
  run.firstProblem ??= `Line ${line}: ${problem.message}`;
  run.count("bad_row");
  const { byClientId, byServiceId } = stored.matching(row);
  const payment = byClientId ?? byServiceId;
  // The row names the payment, so the payment must not also count as missing.
  if (payment) await run.entries.add(rowEntry({ line, value: "", currency: "" }, "bad", payment));
  return newFinding({ kind: "bad_row", line, problem, clientId, serviceId, reference: payment?.reference });
}

async function addRow(run: RunState, row: CheckedRow, stored: StoredPayments): Promise<StatementFinding[]> {
  const comparison = compareRow(row, stored.matching(row));
  const fees = addFees(run, row, comparison.payment?.reference);
  // The time of a payout may be after the period, so it is not noted.
  if (row.kind === "payout") return fees;
  run.noteTime(row);
  const { payment, kinds } = comparison;
  if (!row.paid && kinds.length === 0) run.rows.unpaid += 1;
  if (!row.paid && (kinds.length === 0 || row.kind === "refund")) run.noteUnpaid(row);
  if (row.kind === "refund") {
    if (!row.paid) return fees;
    for (const kind of kinds) run.count(kind);
    if (payment && kinds.length === 0)
      await run.entries.add(rowEntry(row, "refund", payment, refundRowKey(row)));
    return [...fees, ...kinds.map((kind) => describeDifference(kind, row, comparison))];
  }
  for (const kind of kinds) run.count(kind);
  const bucket = bucketOf(row, kinds[0]);
  if (payment && bucket === "matched") run.noteCompletion(row, payment);
  if (bucket !== "unpaid" && bucket !== "matched") run.totals.addRow(bucket, row, row.source);
  if (payment && kinds.includes("amount_differs") && row.paid)
    run.totals.addDifference(row, receivedOf(payment));
  if (payment && kinds.includes("unpaid_there")) run.totals.addPayment("unpaidThere", receivedOf(payment));
  // A row that matches no payment cannot list a payment twice.
  if (!row.unmatched) await run.entries.add(rowEntry(row, bucket, payment));
  if (payment && (row.paid || payment.state === "completed"))
    await run.addSiblings(payment, stored.siblingsOf(payment), row);
  return [...fees, ...kinds.map((kind) => describeDifference(kind, row, comparison))];
}

/** Returns the group in which the money of a row is counted, by its most serious difference. */
function bucketOf({ paid }: CheckedRow, kind: string | undefined): RowBucket | "unpaid" {
  return paid ? ((kind ?? "matched") as RowBucket) : "unpaid";
}
