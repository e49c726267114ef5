import { type StatementFinding } from "./finding.js";
import { type StatementSummary } from "./summary.js";

/**
 * The comparison of one statement. Iterate it for the findings, ask for the summary, or do both in this order. Nothing is read
 * before that, and a run can be read only once.
 *
 * @example
 * ```ts
 * const run = payments.reconcile(readStatement(createReadStream("may.csv")));
 * for await (const finding of run) console.log(finding.kind, finding.clientId);
 * const { balanced, currencies } = await run.summary();
 * ```
 */
export class StatementRun implements AsyncIterable<StatementFinding> {
  readonly #findings: AsyncGenerator<StatementFinding, StatementSummary, undefined>;
  #summary: StatementSummary | undefined;

  /** @internal */
  constructor(findings: AsyncGenerator<StatementFinding, StatementSummary, undefined>) {
    this.#findings = findings;
  }

  /** Yields the findings: first the differences of rows in the order of the rows, then the others. */
  async *[Symbol.asyncIterator](): AsyncGenerator<StatementFinding, void, undefined> {
    const summary: StatementSummary | undefined = yield* this.#findings;
    this.#summary ??= summary;
  }

  /** Returns counts and sums. Reads the rest of the statement. Throws the error that stopped the run. */
  async summary(): Promise<StatementSummary> {
    while (this.#summary === undefined) {
      const next = await this.#findings.next();
      if (!next.done) continue;
      if (next.value === undefined) throw new Error("The run was stopped early, so it has no summary.");
      this.#summary = next.value;
    }
    return this.#summary;
  }
}
