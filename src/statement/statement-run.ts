import { type StatementFinding } from "./finding.js";
import { type StatementSummary } from "./summary.js";

/**
 * A statement that is being compared. Iterate it for what is found, as it is found; then, or instead, ask for the summary.
 * Nothing is read before one of the two is begun, and it can be read once.
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
  #ended = false;

  /** @internal */
  constructor(findings: AsyncGenerator<StatementFinding, StatementSummary, undefined>) {
    this.#findings = findings;
  }

  /** What is found: differences of rows in the order of their lines, then what only becomes plain at the end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<StatementFinding, void, undefined> {
    try {
      for (;;) {
        const next = await this.#findings.next();
        if (next.done) {
          this.#summary ??= next.value;
          this.#ended = true;
          return;
        }
        yield next.value;
      }
    } finally {
      // Whoever stops early leaves no temporary file behind.
      if (!this.#ended) await this.#findings.return(undefined as never);
    }
  }

  /**
   * Counts and sums of the whole statement; reads to the end what was not iterated.
   *
   * @throws whatever stopped the run, and an Error where the iteration was broken off.
   */
  async summary(): Promise<StatementSummary> {
    while (this.#summary === undefined) {
      const next = await this.#findings.next();
      if (!next.done) continue;
      this.#ended = true;
      if (next.value === undefined) throw new Error("The run was broken off, so it has no summary.");
      this.#summary = next.value;
    }
    return this.#summary;
  }
}
