import { TillkitError } from "../../errors/index.js";
import { isPaidBack, paysOrder } from "../../model/attempts.js";
import { type Payment } from "../../model/payment.js";
import { differenceKinds, type FindingKind } from "../result/finding.js";
import {
  defaultPaidStatuses,
  invalidOption,
  type Period,
  refuseWideLimits,
  type ResolvedStatementOptions,
  type StatementProgress,
} from "../../operations/statement-options.js";
import { dayMs } from "../../shared/date-time.js";
import { quote } from "../../shared/quote.js";
import { siblingEntry } from "./sort-entries.js";
import { ExternalSort } from "../sorting/external-sort.js";
import { type CheckedRow, meansUnpaid, type UnreadableRow } from "../statement-row.js";
import { type StatementSummary } from "../result/summary.js";
import { Totals } from "../result/totals.js";

const maxForeignLines = 20;

/** The state of one run: sums in memory, and entries of rows and payments that are sorted in files. */
export class RunState {
  readonly totals = new Totals();
  /** Entries of rows, and one entry for each payment that was completed in the period. */
  readonly entries: ExternalSort;
  /** Paid payments of references that have several payments. */
  readonly siblings: ExternalSort;
  /** One entry for each row of a payout, and for the payout itself. */
  readonly payouts: ExternalSort;
  readonly rows = { read: 0, bad: 0, foreign: 0, unpaid: 0, outsidePeriod: 0, matched: 0 };
  /** The line and the problem of the first row that could not be read. */
  firstProblem: string | undefined;
  /** The number of payments that were completed in the period. */
  completed = 0;
  /** The number of stored payments that were completed in the period, and have another shop's clientId. */
  completedElsewhere = 0;
  /** The first status of an unpaid row without a finding that perhaps means "paid". */
  #unclearStatus: { status: string; line: number } | undefined;
  readonly #options: ResolvedStatementOptions;
  readonly #foreignLines: number[] = [];
  #paymentsRead = 0;
  /**
   * The number of rows with a time. `far` counts the rows that are more than a day away from the given
   * period.
   */
  readonly #dated = { all: 0, far: 0 };
  /** The number of matched rows with a time. `far` counts those more than a day away from the completion. */
  readonly #completions = { all: 0, far: 0 };
  /** The beginning of the rows' first day and the end of their last day, in milliseconds since 1970. */
  #days: { from: number; to: number } | undefined;

  constructor(options: ResolvedStatementOptions) {
    this.#options = options;
    this.entries = new ExternalSort(options.temporaryDirectory, options.sort);
    this.siblings = new ExternalSort(options.temporaryDirectory, options.sort);
    this.payouts = new ExternalSort(options.temporaryDirectory, options.sort);
  }

  addForeign(row: CheckedRow | UnreadableRow): void {
    const { line } = row;
    this.rows.foreign += 1;
    if (!("problem" in row) && row.paid && row.kind === "payment") this.totals.addForeign(row);
    if (this.#foreignLines.length < maxForeignLines) this.#foreignLines.push(line);
  }

  count(kind: FindingKind): void {
    this.totals.counts[kind] += 1;
  }

  /** Notes the status of an unpaid row that has no finding. */
  noteUnpaid({ status = "", line }: CheckedRow): void {
    if (!meansUnpaid(status)) this.#unclearStatus ??= { status, line };
  }

  /**
   * Throws `option_invalid` if a row without a finding has an unknown status, and the default statuses are
   * used. This status may mean "paid". The row would then seem to agree with a payment that is unpaid here.
   * If a payment is paid here, a finding already shows the status.
   */
  expectKnownStatuses(): void {
    const unclear = this.#unclearStatus;
    if (this.totals.counts.unpaid_there > 0) return;
    if (unclear === undefined || this.#options.paidStatuses !== defaultPaidStatuses) return;
    throw invalidOption(
      `Line ${unclear.line} has the status ${quote(unclear.status)}, which may mean paid. Give the statuses that mean paid: ` +
        "paidStatuses (--paid-status).",
    );
  }

  /**
   * Notes the time of a row. Throws `statement_period_missing` if the row has no time and no period was
   * given.
   */
  noteTime({ time, utcOffsetMs, line }: CheckedRow): void {
    const { period } = this.#options;
    if (period) {
      if (!time) return;
      if (time < period.from || time >= period.to) this.rows.outsidePeriod += 1;
      const ms = Date.parse(time);
      this.#dated.all += 1;
      if (ms < Date.parse(period.from) - dayMs || ms > Date.parse(period.to) + dayMs) this.#dated.far += 1;
      return;
    }
    if (!time) throw periodMissing(`no period was given, and line ${line} has no time`);
    const from = Math.floor((Date.parse(time) + utcOffsetMs) / dayMs) * dayMs - utcOffsetMs;
    const { from: first, to: end } = this.#days ?? { from: Infinity, to: -Infinity };
    this.#days = { from: Math.min(first, from), to: Math.max(end, from + dayMs) };
  }

  /** Notes the time between a matched row and the completion of its payment. */
  noteCompletion({ time }: CheckedRow, { completedAt }: Payment): void {
    if (!time || !completedAt) return;
    this.#completions.all += 1;
    if (Math.abs(Date.parse(time) - Date.parse(completedAt)) > dayMs) this.#completions.far += 1;
  }

  /**
   * Returns the given period, or else the whole days of the rows. Throws `statement_unreadable` or
   * `statement_period_missing` if no row of this shop has a time. Throws `option_invalid` if the limits are
   * too wide.
   */
  period(): Period {
    const { period } = this.#options;
    if (period) return period;
    const { bad, read } = this.rows;
    // The times of other shops' rows and of payouts are not noted, so there may be no days although rows were
    // read.
    if (this.firstProblem !== undefined && this.#days === undefined)
      throw new TillkitError(
        "statement_unreadable",
        `${bad === read ? "None" : `Only ${read - bad}`} of the statement's ${read} rows can be read. ${this.firstProblem}`,
        { fix: "Give the format of the statement: the columns, the separators and the time format." },
      );
    if (this.#days === undefined)
      throw periodMissing("no period was given, and no row of this shop has a time");
    const { from, to } = this.#days;
    const days = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    refuseWideLimits(this.#options, days);
    return days;
  }

  /**
   * Throws `option_invalid` if the period is probably wrong. No payment was then completed in the period. All
   * times of rows are more than a day away from a given period, or from the completions of their payments.
   * Also throws if the given prefix is probably wrong. All rows and all stored payments of the period are
   * then of another shop.
   */
  expectPeriod({ from, to }: Period): void {
    if (this.completed > 0) return;
    const { foreign, read } = this.rows;
    if (this.completedElsewhere > 0 && foreign > 0 && foreign === read)
      throw invalidOption(
        `No row and no payment of the period has the clientIdPrefix ${this.#options.clientIdPrefix}. Give the prefix of this shop.`,
      );
    const { all: matched, far: apart } = this.#completions;
    if (!this.#options.period && matched > 0 && apart === matched)
      throw invalidOption(
        `No payment was completed in the days of the rows, from ${from} to ${to}. Give the format of the times (--time-format), ` +
          "or the period (--from and --to).",
      );
    const { all, far } = this.#dated;
    if (all === 0 || far < all) return;
    throw invalidOption(
      `No row and no payment is of the period from ${from} to ${to}. Give the period of the statement.`,
    );
  }

  /** Returns whether a completion is so near to an end of the period that another statement may list it. */
  isAtEdge(completedAt: string, { from, to }: Period): boolean {
    const { edgeMs } = this.#options;
    const at = Date.parse(completedAt);
    return at - Date.parse(from) < edgeMs || Date.parse(to) - at <= edgeMs;
  }

  /**
   * Adds sibling entries for a paid payment and for its completed siblings. Adds nothing for a payment
   * without siblings. Also adds nothing for a payment that was withheld from its order or paid back in full,
   * because it did not pay for the order.
   */
  async addSiblings(payment: Payment, siblings: readonly Payment[], row?: CheckedRow): Promise<void> {
    if (siblings.length < 2) return;
    if (payment.withheld === undefined && !isPaidBack(payment))
      await this.siblings.add(siblingEntry(payment, row));
    for (const other of siblings)
      if (other !== payment && paysOrder(other) && !isPaidBack(other))
        await this.siblings.add(siblingEntry(other));
  }

  /** Calls `onProgress` after a batch. Throws if the signal has aborted. */
  reportProgress(phase: StatementProgress["phase"], paymentsRead = 0): void {
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
      foreignLines: this.#foreignLines,
      foreignSums: this.totals.foreignSums(),
      stored: this.completed,
      counts: { ...counts },
      differences,
      balanced: differences === 0 && counts.bad_row === 0,
      currencies: this.totals.currencies(),
      channels: this.totals.channels(),
    };
  }

  async remove(): Promise<void> {
    await this.entries.remove();
    await this.siblings.remove();
    await this.payouts.remove();
  }
}

function periodMissing(why: string): TillkitError {
  return new TillkitError(
    "statement_period_missing",
    `Payments that are missing on the statement cannot be found: ${why}.`,
  );
}
