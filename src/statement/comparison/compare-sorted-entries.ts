import { type PaymentStore } from "../../store/contract.js";
import { type Payment } from "../../model/payment.js";
import { newFinding, type StatementFinding } from "../result/finding.js";
import { readEveryPage } from "../../operations/reading/history-page.js";
import { type Period } from "../../operations/statement-options.js";
import { unrecordedRefunds } from "./refund-rows.js";
import { type RunState } from "./run-state.js";
import { type PaymentEntry, readEntry, readSiblingEntry, type RowEntry } from "./sort-entries.js";
import { findPayments } from "./stored-payments.js";

const paymentsPerLookup = 500;

/**
 * Yields payments that no row names, rows that list a payment again, and refunds that are not recorded. Reads
 * the sorted entries in batches.
 */
export async function* compareSortedEntries(
  store: PaymentStore,
  run: RunState,
  period: Period,
): AsyncGenerator<StatementFinding, void, undefined> {
  const reader = new EntryReader(run, period);
  for await (const lines of run.entries.sorted()) {
    const next = lines.flatMap((line) => reader.next(readEntry(line)));
    const found = await unrecordedRefunds(store, run, next);
    await addUnlisted(store, run, found, period);
    yield* found;
    run.reportProgress("sides");
  }
  const last = await unrecordedRefunds(store, run, reader.end());
  await addUnlisted(store, run, last, period);
  yield* last;
}

/**
 * Reads the sorted entries in order. The entries of one payment are neighbours: the payment, then its rows.
 */
class EntryReader {
  readonly #run: RunState;
  readonly #period: Period;
  #key: string | undefined;
  /** Whether the payment was completed in the period. */
  #isOfPeriod = false;
  /** The stored payment, until a row names it. */
  #unlisted: PaymentEntry | undefined;
  #firstPaid: RowEntry | undefined;
  /** The findings about refunds of the payment. They are returned after all entries of the payment. */
  #refunds: StatementFinding[] = [];

  constructor(run: RunState, period: Period) {
    this.#run = run;
    this.#period = period;
  }

  /**
   * Returns the findings about this entry, and about the previous payment if that payment has no more
   * entries.
   */
  next(entry: RowEntry | PaymentEntry): StatementFinding[] {
    const found = entry.key === this.#key ? [] : this.end();
    this.#key = entry.key;
    if (entry.side === "stored") {
      this.#unlisted = entry;
      this.#isOfPeriod = true;
      return found;
    }
    // A row of a refund does not say that the payment was paid out.
    if (entry.bucket === "refund") {
      this.#refunds.push(refundOf(entry));
      return found;
    }
    this.#unlisted = undefined;
    if (entry.bucket === "unpaid" || entry.bucket === "bad") return found;
    if (this.#firstPaid) found.push(this.#listedTwice(entry, this.#firstPaid.line));
    else this.#countMatched(entry);
    this.#firstPaid ??= entry;
    return found;
  }

  /** Returns the findings about refunds, and about a payment that no row names, after all its entries. */
  end(): StatementFinding[] {
    const [unlisted, refunds] = [this.#unlisted, this.#refunds];
    this.#unlisted = undefined;
    this.#refunds = [];
    this.#isOfPeriod = false;
    this.#firstPaid = undefined;
    if (!unlisted) return refunds;
    const { clientId, serviceId, reference, value, currency, completedAt } = unlisted;
    const kind = this.#run.isAtEdge(completedAt, this.#period) ? "at_edge" : "missing_there";
    const stored = { value, currency, state: "completed", completedAt } as const;
    return [...refunds, newFinding({ kind, clientId, serviceId, reference, stored })];
  }

  #countMatched(row: RowEntry): void {
    if (row.bucket !== "matched") return;
    this.#run.rows.matched += 1;
    this.#run.totals.addRow("matched", row, row.source);
    if (!this.#isOfPeriod) this.#run.totals.addPayment("ofOtherDays", row);
  }

  #listedTwice(row: RowEntry, firstLine: number): StatementFinding {
    const { bucket, line, source, clientId, serviceId, reference, value, currency } = row;
    this.#run.count("listed_twice");
    // A row with another difference is already counted in the group of that difference.
    if (bucket === "matched") this.#run.totals.addRow("listed_twice", row, source);
    const ids = { clientId, serviceId, reference };
    return newFinding({
      kind: "listed_twice",
      line,
      firstLine,
      ...ids,
      source,
      statement: { value, currency },
    });
  }
}

function refundOf(row: RowEntry): StatementFinding {
  const { line, source, clientId, serviceId, reference, value, currency, rowKey: key, time } = row;
  const statement = { value, currency, ...(time && { time }) };
  const ids = { clientId, serviceId, providerId: row.providerId || undefined, reference };
  return newFinding({ kind: "refund_missing_here", line, ...ids, source, statement, key });
}

/**
 * Counts payments that no row names. If such a payment may have been paid before the period, changes the kind
 * of its finding to `accepted_here`. Adds sibling entries, because such a payment may be the second payment
 * of its reference.
 */
async function addUnlisted(
  store: PaymentStore,
  run: RunState,
  found: readonly StatementFinding[],
  period: Period,
): Promise<void> {
  const unlisted = found.filter(({ kind }) => kind === "missing_there" || kind === "at_edge");
  for (let start = 0; start < unlisted.length; start += paymentsPerLookup) {
    const batch = unlisted.slice(start, start + paymentsPerLookup);
    const stored = await findPayments(store, batch);
    for (const finding of batch) {
      const { byClientId: payment } = stored.matching(finding);
      if (finding.kind === "missing_there" && payment && (await wasPaidBefore(store, payment, period)))
        finding.kind = "accepted_here";
      run.count(finding.kind);
      const counter = finding.kind === "missing_there" ? "missingThere" : "onOtherStatements";
      run.totals.addPayment(counter, finding.stored!);
      const { providerId } = payment?.reported ?? {};
      if (providerId !== undefined) finding.providerId = providerId;
      if (payment) await run.addSiblings(payment, stored.siblingsOf(payment));
    }
  }
}

/**
 * Returns whether the payment may have been paid before the period, so that its row is on an earlier
 * statement. This is possible if a person accepted evidence or replayed a refused webhook, or if the
 * payment's webhook waited, for example for an adoption. A payment that the kit created in the period was
 * paid in the period.
 */
async function wasPaidBefore(
  store: PaymentStore,
  { clientId, completedAt, createdAt, returnKeyHash, reported }: Payment,
  { from }: Period,
): Promise<boolean> {
  if (returnKeyHash !== undefined && createdAt >= from) return false;
  const { resolutions, webhooks } = await readEveryPage(store, clientId);
  const arrival = new Map(webhooks.map(({ receiptId, receivedAt }) => [receiptId, receivedAt]));
  // A refused webhook is stored with the time of its replay, so only its signed time is the payment's time.
  const wasRefused = resolutions.some(({ before, after }) => before === "refused" && after === "applied");
  const submittedAt = reported?.verified.includes("submittedAt") ? reported.submittedAt : undefined;
  if (wasRefused && submittedAt !== undefined && Date.parse(submittedAt) < Date.parse(from)) return true;
  return (
    resolutions.some(
      ({ action, at, receiptId = "" }) =>
        action === "accepted" && at === completedAt && (arrival.get(receiptId) ?? "") < from,
    ) || webhooks.some(({ decidedAt, receivedAt }) => decidedAt === completedAt && receivedAt < from)
  );
}

/** Yields payments that were paid although another payment of their reference had been paid before. */
export async function* findPaidTwice(run: RunState): AsyncGenerator<StatementFinding, void, undefined> {
  let reference: string | undefined;
  let first = "";
  let previous = "";
  for await (const lines of run.siblings.sorted()) {
    for (const entry of lines.map(readSiblingEntry)) {
      if (entry.reference !== reference) {
        reference = entry.reference;
        first = entry.clientId;
        previous = "";
      }
      // A payment may have several entries, which are neighbours.
      const isNew = entry.clientId !== first && entry.clientId !== previous;
      previous = entry.clientId;
      if (!isNew) continue;
      const { line, clientId, serviceId, value, currency, state, completedAt, source } = entry;
      run.count("paid_twice");
      run.totals.addPayment("paidTwice", entry);
      yield newFinding({
        kind: "paid_twice",
        line: line > 0 ? line : undefined,
        clientId,
        serviceId,
        reference,
        source,
        stored: { value, currency, state, ...(completedAt && { completedAt }) },
        other: first,
      });
    }
  }
}
