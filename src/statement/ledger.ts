import { TillkitError } from "../errors/index.js";
import { type Payment } from "../model/payment.js";
import { type FindingKind, differenceKinds } from "./finding.js";
import { type Lookup } from "./look-up.js";
import { siblingMark } from "./marks.js";
import { type Period, type ResolvedReconcileOptions, type StatementProgress } from "./options.js";
import { type JudgedRow } from "./row.js";
import { ExternalSort } from "./sorting/external-sort.js";
import { type StatementSummary } from "./summary.js";
import { Totals } from "./totals.js";

const dayMs = 86_400_000;

/** What one run knows so far: sums in memory, marks of rows and payments sorted outside of it. */
export class Ledger {
  readonly totals = new Totals();
  /** One mark for each row, and for each payment that the books completed in the period. */
  readonly marks: ExternalSort;
  /** Paid payments of references that have several payments. */
  readonly siblings: ExternalSort;
  readonly rows = { read: 0, bad: 0, foreign: 0, unpaid: 0, outsidePeriod: 0, matched: 0 };
  books = 0;
  readonly #options: ResolvedReconcileOptions;
  #paymentsRead = 0;
  #earliest: string | undefined;
  #latest: string | undefined;

  constructor(options: ResolvedReconcileOptions) {
    this.#options = options;
    this.marks = new ExternalSort(options.temporaryDirectory, options.sort);
    this.siblings = new ExternalSort(options.temporaryDirectory, options.sort);
  }

  count(kind: FindingKind): void {
    this.totals.counts[kind] += 1;
  }

  /**
   * Notes the time of a row.
   *
   * @throws TillkitError `statement_period_missing` at the first row without one, where the period is left to the rows
   */
  noteTime({ time, line }: JudgedRow): void {
    const { period } = this.#options;
    if (period) {
      if (time && (time < period.from || time >= period.to)) this.rows.outsidePeriod += 1;
      return;
    }
    if (!time) throw periodMissing(`no period was given, and line ${line} has no time`);
    if (this.#earliest === undefined || time < this.#earliest) this.#earliest = time;
    if (this.#latest === undefined || time > this.#latest) this.#latest = time;
  }

  /** The period that was given, or the whole days of the rows. */
  period(): Period {
    const { period } = this.#options;
    if (period) return period;
    if (this.#earliest === undefined) throw periodMissing("no period was given, and no row has a time");
    const [first, last] = [Date.parse(this.#earliest), Date.parse(this.#latest!)];
    return {
      from: new Date(Math.floor(first / dayMs) * dayMs).toISOString(),
      to: new Date((Math.floor(last / dayMs) + 1) * dayMs).toISOString(),
    };
  }

  /** Remembers that a payment was paid, where its reference has others; and those of them that the books have completed. */
  async markSiblings(payment: Payment, lookup: Lookup, row: JudgedRow | undefined): Promise<void> {
    const all = lookup.ofReference(payment.reference);
    if (all.length < 2) return;
    await this.siblings.add(siblingMark(payment, row));
    for (const other of all)
      if (other !== payment && other.state === "completed") await this.siblings.add(siblingMark(other));
  }

  /** Told after each batch, which is also where a run is stopped. */
  report(phase: StatementProgress["phase"], paymentsRead = 0): void {
    this.#paymentsRead += paymentsRead;
    this.#options.signal?.throwIfAborted();
    this.#options.onProgress?.({ phase, rows: this.rows.read, payments: this.#paymentsRead });
  }

  summary(period: Period): StatementSummary {
    const { counts } = this.totals;
    const differences = differenceKinds.reduce((sum, kind) => sum + counts[kind], 0);
    return {
      period,
      rows: { ...this.rows },
      books: this.books,
      counts: { ...counts },
      differences,
      balanced: differences === 0 && counts.bad_row === 0,
      currencies: this.totals.currencies(),
      channels: this.totals.channels(),
    };
  }

  async remove(): Promise<void> {
    await this.marks.remove();
    await this.siblings.remove();
  }
}

function periodMissing(why: string): TillkitError {
  return new TillkitError("statement_period_missing", `What the statement lacks cannot be told: ${why}.`);
}
