import { html, Html } from "../../pages/html.js";
import { type FindingKind, type StatementFinding } from "../finding.js";
import { type StatementSummary } from "../summary.js";
import { bar } from "./bar.js";
import { kindTones, reportKinds } from "./kinds.js";
import { showCount, showMoney, showTime } from "./show.js";
import { type ReportLanguage, reportTexts } from "./texts.js";

/** As many findings as are shown without being asked for. */
const shortList = 10;

/** How often each kind was found, as a chart that leads to the lists. */
export function kindChart({ counts }: StatementSummary, language: ReportLanguage): Html {
  const text = reportTexts[language];
  const found = reportKinds.filter((kind) => counts[kind] > 0);
  const most = Math.max(...found.map((kind) => counts[kind]));
  const rows = found.map((kind) => {
    const { title } = text.kinds[kind];
    const count = showCount(counts[kind], language);
    return html`<a href="#${kind}">
      <span>${title}</span><b>${count}</b>
      ${bar([{ tone: kindTones[kind], size: counts[kind] }], most, `${title}: ${count}`, true)}
    </a>`;
  });
  return html`<section class="card kinds">
    <h2>${text.byKind}</h2>
    ${found.length > 0 ? html`<div class="chart">${rows}</div>` : html`<p class="empty">${text.nothingFound}</p>`}
  </section>`;
}

/** The lists: each kind that was found, with as many of its findings as were kept. */
export function findingLists(
  kept: ReadonlyMap<FindingKind, readonly StatementFinding[]>,
  { counts }: StatementSummary,
  language: ReportLanguage,
): Html | false {
  const found = reportKinds.filter((kind) => counts[kind] > 0);
  if (found.length === 0) return false;
  const lists = found.map((kind) => list(kind, kept.get(kind) ?? [], counts[kind], language));
  return html`<section class="findings">${lists}</section>`;
}

function list(
  kind: FindingKind,
  findings: readonly StatementFinding[],
  count: number,
  language: ReportLanguage,
): Html {
  const text = reportTexts[language];
  const { title, advice } = text.kinds[kind];
  const left = count - findings.length;
  // Long lists are folded, so that a phone shows all kinds at once; a link into one unfolds it.
  return html`<details class="card ${kindTones[kind]}" ${count <= shortList && new Html("open")}>
    <summary>
      <h2>${title}</h2>
      <span class="badge">${showCount(count, language)}</span>
    </summary>
    <div class="inside" id="${kind}">
      <p>${advice}</p>
      ${kind === "bad_row" ? badRows(findings, language) : payments(findings, language)}
      ${left > 0 && html`<p>${text.more(showCount(left, language))}</p>`}
    </div>
  </details>`;
}

function payments(findings: readonly StatementFinding[], language: ReportLanguage): Html {
  const text = reportTexts[language];
  const extraLabel = findings.some(({ difference }) => difference) ? text.difference : text.other;
  // What no finding of the kind has needs no column.
  const has = {
    line: findings.some(({ line }) => line),
    statement: findings.some(({ statement }) => statement),
    books: findings.some(({ books }) => books),
    extra: findings.some(({ difference, other }) => difference ?? other),
  };
  const row = (finding: StatementFinding): Html => {
    const { line, firstLine, clientId, serviceId, reference, source, statement, books } = finding;
    return html`<tr>
      ${has.line && html`<td data-label="${text.line}" class="number">${line && linesOf(line, firstLine, language)}</td>`}
      <td data-label="${text.payment}">
        <span
          ><code>${clientId ?? serviceId}</code
          >${reference !== undefined && html`<small>${reference}</small>`}</span
        >
      </td>
      ${has.statement && html`<td data-label="${text.statement}">${statement && saidThere(statement, source, language)}</td>`}
      ${has.books && html`<td data-label="${text.books}">${books && saidHere(books, language)}</td>`}
      ${has.extra && html`<td data-label="${extraLabel}">${extraOf(finding, language)}</td>`}
    </tr>`;
  };
  return html`<table class="stack">
    <thead>
      <tr>
        ${has.line && html`<th scope="col" class="number">${text.line}</th>`}
        <th scope="col">${text.payment}</th>
        ${has.statement && html`<th scope="col">${text.statement}</th>`}
        ${has.books && html`<th scope="col">${text.books}</th>`}
        ${has.extra && html`<th scope="col">${extraLabel}</th>`}
      </tr>
    </thead>
    <tbody>
      ${findings.map(row)}
    </tbody>
  </table>`;
}

function linesOf(line: number, firstLine: number | undefined, language: ReportLanguage): string {
  const shown = showCount(line, language);
  return firstLine === undefined ? shown : `${showCount(firstLine, language)}, ${shown}`;
}

function extraOf({ difference, statement, other }: StatementFinding, language: ReportLanguage): Html | false {
  if (difference !== undefined && statement)
    return html`<span class="pieces">${showMoney({ ...statement, value: difference }, language)}</span>`;
  return other !== undefined && html`<code>${other}</code>`;
}

function saidThere(
  statement: NonNullable<StatementFinding["statement"]>,
  source: string | undefined,
  language: ReportLanguage,
): Html {
  const { status, time } = statement;
  return said(showMoney(statement, language), [source, status, time && showTime(time)]);
}

function saidHere(books: NonNullable<StatementFinding["books"]>, language: ReportLanguage): Html {
  const { state, completedAt } = books;
  return said(showMoney(books, language), [state, completedAt && showTime(completedAt)]);
}

/** An amount, and below it what belongs to it, in pieces that do not break. */
function said(amount: string, about: readonly (string | undefined)[]): Html {
  const pieces = about.filter(Boolean).map((piece) => html`<span>${piece}</span> `);
  return html`<span>${amount}<small class="pieces">${pieces}</small></span>`;
}

function badRows(findings: readonly StatementFinding[], language: ReportLanguage): Html {
  const text = reportTexts[language];
  const row = ({ line, problem, clientId, serviceId }: StatementFinding): Html =>
    html`<tr>
      <td data-label="${text.line}" class="number">${line && showCount(line, language)}</td>
      <td data-label="${text.problem}">
        <span
          >${problem?.message}<small
            ><code>${[problem?.code, clientId ?? serviceId].filter(Boolean).join(" · ")}</code></small
          ></span
        >
      </td>
    </tr>`;
  return html`<table class="stack">
    <thead>
      <tr>
        <th scope="col" class="number">${text.line}</th>
        <th scope="col">${text.problem}</th>
      </tr>
    </thead>
    <tbody>
      ${findings.map(row)}
    </tbody>
  </table>`;
}
