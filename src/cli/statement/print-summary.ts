import {
  type CurrencyTotals,
  differenceKinds,
  type FindingKind,
  type StatementFinding,
  type StatementSummary,
  type Sum,
} from "../../statement/index.js";
import { oneLine, type Output, wrap } from "../terminal/output.js";

const titles: Readonly<Record<FindingKind, string>> = {
  missing_here: "payments on the statement that are not stored",
  missing_there: "payments stored as completed that are not on the statement",
  unmatched_row: "rows without ids that match no payment, or several payments",
  id_differs: "clientId and serviceId of different payments",
  currency_differs: "paid in another currency",
  amount_differs: "paid with another amount",
  unpaid_here: "paid on the statement, stored as open",
  unpaid_there: "stored as completed, unpaid on the statement",
  withheld: "paid with an amount that was later replaced",
  listed_twice: "listed on the statement more than once",
  paid_twice: "another payment of the same order was paid before",
  refund_missing_here: "refunds on the statement that are not recorded",
  fee_differs: "the gross amount minus the fee is not the net amount",
  payout_differs: "the payout is not the sum of its rows",
  bad_row: "rows that could not be read, and so were not compared",
  at_edge: "completed at the edge of the period (no difference)",
  accepted_here: "accepted, adopted or replayed later than paid, on another statement (no difference)",
};

/** A finding without its candidates. The summary only needs the finding's kind, amounts and order or ids. */
type NamedFinding = Omit<StatementFinding, "candidates">;

/** The maximum number of orders that are named beside one sum. */
const maxNamed = 3;

/** Prints the result of a run as a table for people. The orders of `findings` are named beside the sums. */
export function printSummary(
  summary: StatementSummary,
  findings: readonly NamedFinding[],
  output: Output,
): void {
  const { period, rows, counts, balanced, differences } = summary;
  output.print(`period   ${period!.from} to ${period!.to}`);
  const refunds = summary.currencies.reduce((sum, one) => sum + one.refunds.count, 0);
  const further = [
    counted(refunds, "refund"),
    `${grouped(counts.unmatched_row)} unmatched`,
    `${grouped(rows.bad)} unreadable`,
    `${grouped(rows.unpaid)} unpaid`,
    `${grouped(rows.foreign)} foreign`,
    `${grouped(rows.outsidePeriod)} dated outside the period`,
  ].filter((fact) => !fact.startsWith("0 "));
  const facts = [counted(rows.read, "row"), `${grouped(rows.matched)} matched`, ...further];
  output.print(`rows     ${facts.join(", ")}`);
  const { foreignLines, foreignSums } = summary;
  if (foreignLines.length > 0) {
    const more = rows.foreign > foreignLines.length ? ", …" : "";
    const sums = foreignSums.map(({ value, currency }) => `; sum ${value} ${currency}`).join("");
    output.print(
      `foreign  ${wrap(`lines ${foreignLines.join(", ")}${more}${sums}`, output.width - 9, " ".repeat(9))}`,
    );
  }
  output.print(`stored   ${grouped(summary.stored)} payments completed in the period`);
  output.print();
  for (const kind of Object.keys(titles) as (keyof typeof titles)[]) {
    if (counts[kind] === 0) continue;
    const line = `${grouped(counts[kind]).padStart(11)}  ${kind.padEnd(19)}  ${titles[kind]}`;
    output.print(kind === "at_edge" || kind === "accepted_here" ? output.paint("dim", line) : line);
  }
  if (Object.values(counts).some((count) => count > 0)) output.print();
  printSums(summary, findings, output);
  output.print();
  const problems = `${counted(differences, "difference")}, ${counted(counts.bad_row, "unreadable row")}.`;
  if (rows.bad > 0 && rows.bad === rows.read)
    output.print(
      "The command could read none of the rows, so it compared nothing. Check the columns and their format.",
    );
  output.print(balanced ? output.paint("green", "Everything agrees.") : output.paint("red", problems));
}

function printSums(
  { currencies, rows: { bad } }: StatementSummary,
  findings: readonly NamedFinding[],
  output: Output,
): void {
  if (currencies.length === 0) return;
  const lengths = currencies.flatMap((one) => [one.statement.value.length, one.stored.value.length]);
  const width = Math.max(9, ...lengths);
  const line = (cells: readonly string[]) => cells.map((cell) => cell.padStart(width)).join("  ");
  output.print(output.paint("dim", `     ${line(["statement", "stored", "matched"])}`));
  for (const { currency, statement, stored, rows } of currencies)
    output.print(`${currency}  ${line([statement.value, stored.value, rows.matched.value])}`);
  for (const totals of currencies) printDifferences(totals, findings, output);
  for (const { currency, refunds, fees, net, payouts } of currencies) {
    const sums = { refunds, fees, payouts };
    const listed = Object.entries(sums).filter(([, { count }]) => count > 0);
    // If all of these sums are zero, the first column of the table already shows the total.
    if (listed.length > 0)
      output.print(
        `${currency}  ${listed.map(([name, { value }]) => `${name} ${value}`).join(", ")}; total of the statement ${net.value}`,
      );
  }
  // These amounts explain why the two sums can differ although every row matches its payment.
  for (const { currency, ofOtherDays, onOtherStatements } of currencies) {
    if (ofOtherDays.count > 0)
      output.print(
        `${currency}  The store has ${ofOtherDays.value} of the statement as completed before or after the period.`,
      );
    if (onOtherStatements.count > 0)
      output.print(
        `${currency}  Other statements may have ${onOtherStatements.value} of the stored sum: at_edge, accepted_here.`,
      );
  }
  if (bad > 0) output.print(`These sums do not include ${counted(bad, "unreadable row")}.`);
}

/** Prints the sums of one currency that are not matched, with the first orders of each. */
function printDifferences(
  { currency, rows, missingThere, unpaidThere }: CurrencyTotals,
  findings: readonly NamedFinding[],
  output: Output,
): void {
  const { matched: _, ...ofStatement } = rows;
  const ofStored = { missing_there: missingThere, unpaid_there: unpaidThere };
  const isOfCurrency = ({ statement, stored }: NamedFinding): boolean =>
    (statement ?? stored)?.currency === currency;
  const named = findings.filter(isOfCurrency).filter((one) => !isCountedElsewhere(one, findings, rows));
  const text = (sums: Partial<Record<FindingKind, Sum>>): string =>
    Object.entries(sums)
      .filter(([, { count }]) => count > 0)
      .map(([kind, { count, value }]) => {
        const names = named.filter((one) => one.kind === kind).map(orderOrId);
        const shown = names.slice(0, maxNamed).join(", ");
        const more = count > Math.min(names.length, maxNamed) ? ", …" : "";
        return shown === "" ? `${kind} ${value}` : `${kind} ${value} (${shown}${more})`;
      })
      .join(", ");
  for (const [label, sums] of Object.entries({
    "not matched": ofStatement,
    "not on the statement": ofStored,
  }))
    if (text(sums) !== "")
      output.print(`${currency}  ${wrap(oneLine(`${label}: ${text(sums)}`), output.width - 5, "     ")}`);
}

/** Returns whether the amount of the row is already counted in a more serious difference. */
function isCountedElsewhere(
  { kind, line }: NamedFinding,
  findings: readonly NamedFinding[],
  rows: CurrencyTotals["rows"],
): boolean {
  const rank = (one: FindingKind): number => differenceKinds.indexOf(one as (typeof differenceKinds)[number]);
  return findings.some(
    (one) => line !== undefined && one.line === line && one.kind in rows && rank(one.kind) < rank(kind),
  );
}

function orderOrId({ reference, clientId, serviceId, providerId, line }: NamedFinding): string {
  return reference ?? clientId ?? providerId ?? serviceId ?? `line ${line}`;
}

function counted(count: number, word: string): string {
  return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** Returns a number with its digits in groups of three: 1,000,000. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
