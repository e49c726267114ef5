import { html, type Html } from "../../pages/html.js";
import { type ChannelTotals, type CurrencyTotals, type StatementSummary, type Sum } from "../summary.js";
import { bar, type Tone } from "./bar.js";
import { kindTones } from "./kinds.js";
import { showCount, showMoney, showValue } from "./show.js";
import { type ReportLanguage, reportTexts } from "./texts.js";

interface Part {
  label: string;
  tone: Tone;
  sum: Sum;
}

/** For each currency both sides as bars, and what each of them is made of. */
export function currencySection({ currencies }: StatementSummary, language: ReportLanguage): Html | false {
  if (currencies.length === 0) return false;
  return html`<section class="card money">
    <h2>${reportTexts[language].byCurrency}</h2>
    <div class="currencies">${currencies.map((totals) => oneCurrency(totals, language))}</div>
  </section>`;
}

function oneCurrency(totals: CurrencyTotals, language: ReportLanguage): Html {
  const text = reportTexts[language];
  const { currency, statement, books, rows, missingThere, unpaidThere } = totals;
  const whole = Math.max(Number(statement.value), Number(books.value));
  const gap = difference(statement.value, books.value);
  const ofStatement: Part[] = [
    { label: text.rows.matched, tone: "good", sum: rows.matched },
    ...rowKinds.map((kind) => ({ label: text.rows[kind], tone: kindTones[kind], sum: rows[kind] })),
  ];
  const ofBooks: Part[] = [
    { label: text.rows.missing_there, tone: "loss", sum: missingThere },
    { label: text.rows.unpaid_there, tone: "loss", sum: unpaidThere },
  ];
  const side = (label: string, sum: Sum, pieces: readonly Tinted[], parts: readonly Part[]): Html =>
    html`<div class="side">
      <dl>
        <dt>${label} <small class="same">${showCount(sum.count, language)}</small></dt>
        <dd>${showValue(sum.value, language)}</dd>
      </dl>
      ${bar(pieces, whole, `${label}: ${showValue(sum.value, language)} ${currency}`)}
      ${legend(parts, language)}
    </div>`;
  // Of the books only what the statement contradicts is told by kind; the rest of them is drawn as agreed.
  const agreed = Number(books.value) - Number(missingThere.value) - Number(unpaidThere.value);
  return html`<div class="currency">
    <h3>
      ${currency}
      <span class="${/[1-9]/.test(gap) ? "loss" : "good"}"
        >${text.gap} <b>${showValue(gap, language)}</b></span
      >
    </h3>
    ${side(text.statement, statement, ofStatement.map(tinted), ofStatement)}
    ${side(text.books, books, [{ tone: "good", size: agreed }, ...ofBooks.map(tinted)], ofBooks)}
  </div>`;
}

type Tinted = Parameters<typeof bar>[0][number];

function tinted({ tone, sum }: Part): Tinted {
  return { tone, size: Number(sum.value) };
}

/** Kinds that a paid row may have, in the order of the bar. */
const rowKinds = [
  "missing_here",
  "unpaid_here",
  "amount_differs",
  "currency_differs",
  "id_differs",
  "listed_twice",
] as const;

function legend(parts: readonly Part[], language: ReportLanguage): Html | false {
  const there = parts.filter(({ sum }) => sum.count > 0);
  if (there.length === 0) return false;
  const items = there.map(
    ({ label, tone, sum }) =>
      html`<li class="${tone}">
        <span>${label} <small class="same">${showCount(sum.count, language)}</small></span>
        <span class="value">${showValue(sum.value, language)}</span>
      </li>`,
  );
  return html`<ul class="parts">
    ${items}
  </ul>`;
}

/** Exact, for two decimals of one currency, which have the same number of places. */
function difference(a: string, b: string): string {
  const places = a.split(".")[1]?.length ?? 0;
  const units = BigInt(a.replace(".", "")) - BigInt(b.replace(".", ""));
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  return `${units < 0n ? "-" : ""}${whole}${places ? `.${digits.slice(-places)}` : ""}`;
}

/** The paid rows of each provider channel. */
export function channelSection({ channels }: StatementSummary, language: ReportLanguage): Html | false {
  if (channels.length === 0) return false;
  const text = reportTexts[language];
  const name = (source: string): string =>
    source === "" ? text.noChannel : source === "*" ? text.otherChannels : source;
  const row = ({ source, currency, statement, matched, differing }: ChannelTotals): Html => {
    const sizes = [
      { tone: "good", size: matched.count },
      { tone: "loss", size: differing.count },
    ] as const;
    const share = `${showCount(matched.count, language)} / ${showCount(statement.count, language)}`;
    return html`<tr>
      <td data-label="${text.channel}">${name(source)}</td>
      <td data-label="${text.sum}" class="number">
        ${showMoney({ value: statement.value, currency }, language)}
      </td>
      <td data-label="${text.matched}" class="number">${showCount(matched.count, language)}</td>
      <td data-label="${text.differing}" class="number">${showCount(differing.count, language)}</td>
      <td data-label="${text.share}" class="wide">
        ${bar(sizes, statement.count, `${name(source)}: ${share}`, true)}
      </td>
    </tr>`;
  };
  return html`<section class="card channels">
    <h2>${text.byChannel}</h2>
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">${text.channel}</th>
          <th scope="col" class="number">${text.sum}</th>
          <th scope="col" class="number">${text.matched}</th>
          <th scope="col" class="number">${text.differing}</th>
          <th scope="col">${text.share}</th>
        </tr>
      </thead>
      <tbody>
        ${channels.map(row)}
      </tbody>
    </table>
  </section>`;
}
