import { decimalOf } from "../../model/money.js";
import { html, type Html } from "../../pages/html.js";
import {
  type ChannelTotals,
  type CurrencyTotals,
  type RowBucket,
  type StatementSummary,
  type Sum,
} from "../result/summary.js";
import { shareBar, kindTones, type Piece, reportTable, type Tone } from "./components.js";
import { type ReportText } from "./report-text.js";

interface Part {
  label: string;
  tone: Tone;
  sum: Sum;
}

/** Returns the sums of both sides for each currency, as bars with their parts. */
export function currencySection({ currencies }: StatementSummary, text: ReportText): Html | false {
  if (currencies.length === 0) return false;
  return html`<section class="card money">
    <h2>${text.byCurrency}</h2>
    <div class="currencies">${currencies.map((totals) => currencyTotals(totals, text))}</div>
  </section>`;
}

function currencyTotals(totals: CurrencyTotals, text: ReportText): Html {
  const { currency, statement, stored, rows, missingThere, unpaidThere } = totals;
  const rowKinds = Object.keys(kindTones).filter((kind) => kind in rows) as Exclude<RowBucket, "matched">[];
  const ofStatement: Part[] = [
    { label: text.matched, tone: "good", sum: rows.matched },
    ...rowKinds.map((kind) => ({ label: text.titles[kind], tone: kindTones[kind], sum: rows[kind] })),
  ];
  const ofStored: Part[] = [
    { label: text.titles.missing_there, tone: "bad", sum: missingThere },
    { label: text.titles.unpaid_there, tone: "bad", sum: unpaidThere },
  ];
  // The statement contradicts only these parts of the stored payments. The bar shows the others as matched.
  const matched = Number(stored.value) - Number(missingThere.value) - Number(unpaidThere.value);
  const longest = Math.max(Number(statement.value), Number(stored.value));
  const side = (label: string, sum: Sum, pieces: readonly Piece[], parts: readonly Part[]): Html =>
    html`<div class="side">
      <dl>
        <dt>${label} <small class="same">${text.count(sum.count)}</small></dt>
        <dd>${text.value(sum.value)}</dd>
      </dl>
      ${shareBar(pieces, longest, `${label}: ${text.value(sum.value)} ${currency}`)} ${legend(parts, text)}
    </div>`;
  const gap = decimalOf(unitsOf(statement) - unitsOf(stored), currency);
  return html`<div class="currency">
    <h3>
      ${currency}
      <span class="${/[1-9]/.test(gap) ? "bad" : "good"}">${text.gap} <b>${text.value(gap)}</b></span>
    </h3>
    ${side(text.statement, statement, ofStatement.map(pieceOf), ofStatement)}
    ${side(text.stored, stored, [{ tone: "good", size: matched }, ...ofStored.map(pieceOf)], ofStored)}
  </div>`;
}

function pieceOf({ tone, sum }: Part): Piece {
  return { tone, size: Number(sum.value) };
}

/** Returns a sum in minor units. The value of a sum has all decimals of its currency. */
function unitsOf({ value }: Sum): bigint {
  return BigInt(value.replace(".", ""));
}

function legend(parts: readonly Part[], text: ReportText): Html | false {
  const items = parts
    .filter(({ sum }) => sum.count > 0)
    .map(
      ({ label, tone, sum }) =>
        html`<li class="${tone}">
          <span>${label} <small class="same">${text.count(sum.count)}</small></span>
          <span class="value">${text.value(sum.value)}</span>
        </li>`,
    );
  return (
    items.length > 0 &&
    html`<ul class="parts">
      ${items}
    </ul>`
  );
}

/** Returns the paid rows of each provider channel. */
export function channelSection({ channels }: StatementSummary, text: ReportText): Html | false {
  if (channels.length === 0) return false;
  const nameOf = (source: string): string =>
    source === "" ? text.noChannel : source === "*" ? text.otherChannels : source;
  const share = ({ source, statement, matched, differing }: ChannelTotals): Html => {
    const pieces = [
      { tone: "good", size: matched.count },
      { tone: "bad", size: differing.count },
    ] as const;
    const label = `${nameOf(source)}: ${text.count(matched.count)} / ${text.count(statement.count)}`;
    return shareBar(pieces, statement.count, label, true);
  };
  return html`<section class="card channels">
    <h2>${text.byChannel}</h2>
    ${reportTable(channels, [
      { label: text.channel, cell: ({ source }) => nameOf(source) },
      {
        label: text.sum,
        look: "number",
        cell: ({ statement, currency }) => text.money({ ...statement, currency }),
      },
      { label: text.matched, look: "number", cell: ({ matched }) => text.count(matched.count) },
      { label: text.differing, look: "number", cell: ({ differing }) => text.count(differing.count) },
      { label: text.share, look: "wide", cell: share },
    ])}
  </section>`;
}
