import { type PaymentStore } from "../store/payment-store.js";
import { type StatementFinding } from "./finding.js";
import { type Ledger } from "./ledger.js";
import { lookUp } from "./look-up.js";
import { type PaymentMark, readMark, readSiblingMark, type RowMark } from "./marks.js";
import { type Period, type ResolvedReconcileOptions } from "./options.js";

/** What is on one side only, and what the statement lists twice: read off the sorted marks, one at a time. */
export async function* tellSides(
  store: PaymentStore,
  ledger: Ledger,
  period: Period,
  options: ResolvedReconcileOptions,
): AsyncGenerator<StatementFinding, void, undefined> {
  const sides = new Sides(ledger, (at) => isAtEdge(at, period, options.edgeMs));
  for await (const lines of ledger.marks.sorted()) {
    const found: StatementFinding[] = [];
    for (const line of lines) found.push(...sides.next(readMark(line)));
    yield* found;
    await markLostSiblings(store, ledger, found);
    ledger.report("sides");
  }
  const last = sides.end();
  yield* last;
  await markLostSiblings(store, ledger, last);
}

/** The marks of one payment lie side by side: that of the books first, then its rows by their lines. */
class Sides {
  readonly #ledger: Ledger;
  readonly #isAtEdge: (completedAt: string) => boolean;
  #key: string | undefined;
  /** The payment of the books that no row named so far. */
  #alone: PaymentMark | undefined;
  #firstPaid: RowMark | undefined;

  constructor(ledger: Ledger, isAtEdge: (completedAt: string) => boolean) {
    this.#ledger = ledger;
    this.#isAtEdge = isAtEdge;
  }

  /** What this mark makes plain: about the payment before it, or about its own row. */
  next(mark: RowMark | PaymentMark): StatementFinding[] {
    const found = mark.key === this.#key ? [] : this.end();
    this.#key = mark.key;
    if (mark.side === "books") {
      this.#alone = mark;
      return found;
    }
    this.#alone = undefined;
    if (mark.bucket === "unpaid" || mark.bucket === "bad") return found;
    if (this.#firstPaid) found.push(this.#listedTwice(mark, this.#firstPaid.line));
    else this.#countOnce(mark);
    this.#firstPaid ??= mark;
    return found;
  }

  /** What remains to be told of the payment whose marks are through. */
  end(): StatementFinding[] {
    const alone = this.#alone;
    this.#alone = undefined;
    this.#firstPaid = undefined;
    if (!alone) return [];
    const { clientId, serviceId, reference, value, currency, completedAt } = alone;
    const kind = this.#isAtEdge(completedAt) ? "at_edge" : "missing_there";
    this.#ledger.count(kind);
    if (kind === "missing_there") this.#ledger.totals.addPayment("missingThere", alone);
    const books = { value, currency, state: "completed", completedAt } as const;
    return [{ kind, clientId, ...(serviceId && { serviceId }), reference, books }];
  }

  #countOnce({ bucket, value, currency, source }: RowMark): void {
    if (bucket !== "matched") return;
    this.#ledger.rows.matched += 1;
    this.#ledger.totals.addRow("matched", { value, currency }, source);
  }

  #listedTwice(mark: RowMark, firstLine: number): StatementFinding {
    const { bucket, line, clientId, serviceId, reference, source, value, currency } = mark;
    this.#ledger.count("listed_twice");
    // A row that differs was counted where it differs.
    if (bucket === "matched") this.#ledger.totals.addRow("listed_twice", mark, source);
    return {
      kind: "listed_twice",
      line,
      firstLine,
      ...(clientId && { clientId }),
      ...(serviceId && { serviceId }),
      ...(reference && { reference }),
      ...(source && { source }),
      statement: { value, currency },
    };
  }
}

function isAtEdge(completedAt: string, { from, to }: Period, edgeMs: number): boolean {
  const at = Date.parse(completedAt);
  return at - Date.parse(from) < edgeMs || Date.parse(to) - at <= edgeMs;
}

/** A payment that no row names was not looked up yet: it may be the second one of its reference. */
async function markLostSiblings(
  store: PaymentStore,
  ledger: Ledger,
  found: readonly StatementFinding[],
): Promise<void> {
  const lost = found.filter(({ kind }) => kind === "missing_there" || kind === "at_edge");
  for (let start = 0; start < lost.length; start += 500) {
    const ids = lost.slice(start, start + 500);
    const lookup = await lookUp(store, ids);
    for (const id of ids) {
      const { byClientId } = lookup.named(id);
      if (byClientId) await ledger.markSiblings(byClientId, lookup, undefined);
    }
  }
}

/** Payments that were paid although another one of their reference was: every one but the first. */
export async function* tellPaidTwice(ledger: Ledger): AsyncGenerator<StatementFinding, void, undefined> {
  let reference: string | undefined;
  let first = "";
  let before = "";
  for await (const lines of ledger.siblings.sorted()) {
    for (const line of lines) {
      const mark = readSiblingMark(line);
      if (mark.reference !== reference) {
        reference = mark.reference;
        first = mark.clientId;
        before = "";
      }
      // A payment has as many marks as it was met.
      const isNew = mark.clientId !== first && mark.clientId !== before;
      before = mark.clientId;
      if (!isNew) continue;
      const { clientId, serviceId, value, currency, state, completedAt, source } = mark;
      ledger.count("paid_twice");
      ledger.totals.addPayment("paidTwice", { value, currency });
      yield {
        kind: "paid_twice",
        ...(mark.line > 0 && { line: mark.line }),
        clientId,
        ...(serviceId && { serviceId }),
        reference,
        ...(source && { source }),
        books: { value, currency, state, ...(completedAt && { completedAt }) },
        other: first,
      };
    }
  }
}
