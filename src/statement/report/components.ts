import { type HtmlFragment, html, type Html } from "../../pages/html.js";
import { type FindingKind } from "../result/finding.js";

/** The meaning of a colour: agreement, missing money, changed money, double money, or a note. */
export type Tone = "good" | "bad" | "warn" | "twice" | "note";

/** The tone of each kind of finding, in the order of the report. */
export const kindTones: Readonly<Record<FindingKind, Tone>> = {
  missing_here: "bad",
  missing_there: "bad",
  unmatched_row: "warn",
  unpaid_here: "bad",
  unpaid_there: "bad",
  amount_differs: "warn",
  currency_differs: "warn",
  id_differs: "warn",
  withheld: "warn",
  listed_twice: "twice",
  paid_twice: "twice",
  refund_missing_here: "bad",
  fee_differs: "warn",
  payout_differs: "warn",
  bad_row: "note",
  at_edge: "note",
  accepted_here: "note",
};

/** One piece of a bar. */
export interface Piece {
  tone: Tone;
  size: number;
}

/** Returns a horizontal bar. The width of a piece is its share of `total`, with a visible minimum width. */
export function shareBar(pieces: readonly Piece[], total: number, label: string, thin = false): Html {
  let at = 0;
  const rects = pieces.flatMap(({ tone, size }) => {
    if (size <= 0 || total <= 0) return [];
    const width = Math.max(6, Math.round((1000 * size) / total));
    const x = Math.min(at, 1000 - width);
    at = x + width;
    return html`<g class="${tone}"><rect x="${x}" y="0" width="${width}" height="10" /></g>`;
  });
  const name = thin ? "bar thin" : "bar";
  return html`<svg
    class="${name}"
    viewBox="0 0 1000 10"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    ${rects}
  </svg>`;
}

/** One column of a table. */
export interface ReportColumn<Row> {
  label: string;
  cell: (row: Row) => HtmlFragment;
  /** The look of the column: `number` aligns to the right, `wide` has a minimum width. */
  look?: "number" | "wide";
}

/** Returns a table that a phone shows as one block for each row. A column without any content is left out. */
export function reportTable<Row>(rows: readonly Row[], columns: readonly ReportColumn<Row>[]): Html {
  const filled = columns.filter(({ cell }) => rows.some(cell));
  const headers = filled.map(
    ({ label, look }) => html`<th scope="col" ${look === "number" && html`class="number"`}>${label}</th>`,
  );
  const cells = (row: Row) =>
    filled.map(
      ({ label, look, cell }) =>
        html`<td data-label="${label}" ${look && html`class="${look}"`}>${cell(row)}</td>`,
    );
  return html`<table class="stack">
    <thead>
      <tr>
        ${headers}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${cells(row)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
