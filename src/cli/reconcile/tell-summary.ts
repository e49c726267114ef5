import { type DifferenceKind, type StatementSummary } from "../../statement/index.js";
import { type Output } from "../terminal/output.js";

/** What each kind is called in the terminal; the report says more. */
const titles: Readonly<Record<DifferenceKind | "bad_row" | "at_edge", string>> = {
  missing_here: "on the statement, unknown to the books",
  missing_there: "completed in the books, not on the statement",
  id_differs: "clientId and serviceId of different payments",
  currency_differs: "another currency",
  amount_differs: "another amount",
  unpaid_here: "paid on the statement, open in the books",
  unpaid_there: "completed in the books, unpaid on the statement",
  listed_twice: "the same payment once more on the statement",
  paid_twice: "another payment of the same order was paid before",
  bad_row: "could not be read, and were not compared",
  at_edge: "completed at the edge of the period (no difference)",
};

/** Tells people what a run found, in a table that fits a terminal. */
export function tellSummary(summary: StatementSummary, output: Output): void {
  const { period, rows, counts, currencies, balanced, differences } = summary;
  output.say(`period   ${period!.from} to ${period!.to}`);
  const further = (["unpaid", "foreign", "outsidePeriod"] as const)
    .filter((name) => rows[name] > 0)
    .map(
      (name) => `${grouped(rows[name])} ${name === "outsidePeriod" ? "dated outside of the period" : name}`,
    );
  const facts = [`${grouped(rows.read)} rows`, `${grouped(rows.matched)} matched`, ...further];
  output.say(`rows     ${facts.join(", ")}`);
  output.say(`books    ${grouped(summary.books)} payments completed in the period`);
  output.say();
  for (const kind of Object.keys(titles) as (keyof typeof titles)[]) {
    if (counts[kind] === 0) continue;
    const line = `${grouped(counts[kind]).padStart(11)}  ${kind.padEnd(16)}  ${titles[kind]}`;
    output.say(kind === "at_edge" ? output.paint("dim", line) : line);
  }
  if (Object.values(counts).some((count) => count > 0)) output.say();
  const widest = Math.max(
    9,
    ...currencies.flatMap((one) => [one.statement.value.length, one.books.value.length]),
  );
  if (currencies.length > 0)
    output.say(
      output.paint(
        "dim",
        `     ${"statement".padStart(widest)}  ${"books".padStart(widest)}  ${"matched".padStart(widest)}`,
      ),
    );
  for (const { currency, statement, books, rows: sums } of currencies) {
    const cells = [statement, books, sums.matched].map(({ value }) => value.padStart(widest));
    output.say(`${currency}  ${cells.join("  ")}`);
  }
  output.say();
  const verdict = balanced
    ? output.paint("green", "Everything agrees.")
    : output.paint(
        "red",
        `${counted(differences, "difference")}, ${counted(counts.bad_row, "unreadable row")}.`,
      );
  output.say(verdict);
}

function counted(count: number, word: string): string {
  return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** 1,000,000 */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
