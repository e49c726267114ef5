import { html, Html } from "../../pages/html.js";
import { type FindingKind, type StatementFinding } from "../result/finding.js";
import { type StatementSummary } from "../result/summary.js";
import { shareBar, kindTones, reportTable } from "./components.js";
import { formatTime, type ReportText } from "./report-text.js";

/** The maximum length of a list that is unfolded when the page opens. */
const maxOpenList = 10;

/** Returns a chart of the number of findings of each kind, with links to the lists. */
export function kindChart({ counts }: StatementSummary, text: ReportText): Html {
  const found = foundKinds(counts);
  const highest = Math.max(...found.map((kind) => counts[kind]));
  const rows = found.map((kind) => {
    const title = text.titles[kind];
    const count = text.count(counts[kind]);
    return html`<a href="#${kind}">
      <span>${title}</span><b>${count}</b>
      ${shareBar([{ tone: kindTones[kind], size: counts[kind] }], highest, `${title}: ${count}`, true)}
    </a>`;
  });
  return html`<section class="card kinds">
    <h2>${text.byKind}</h2>
    ${found.length > 0 ? html`<div class="chart">${rows}</div>` : html`<p class="empty">${text.nothingFound}</p>`}
  </section>`;
}

/** Returns one list for each kind that was found, with the findings of this kind in `kept`. */
export function findingLists(
  kept: ReadonlyMap<FindingKind, readonly StatementFinding[]>,
  { counts }: StatementSummary,
  text: ReportText,
): Html | false {
  const lists = foundKinds(counts).map((kind) => list(kind, kept.get(kind) ?? [], counts[kind], text));
  return lists.length > 0 && html`<section class="findings">${lists}</section>`;
}

function foundKinds(counts: StatementSummary["counts"]): FindingKind[] {
  return (Object.keys(kindTones) as FindingKind[]).filter((kind) => counts[kind] > 0);
}

function list(
  kind: FindingKind,
  findings: readonly StatementFinding[],
  count: number,
  text: ReportText,
): Html {
  const left = count - findings.length;
  // Long lists are folded, so that a phone shows all kinds on one screen. A link into a list unfolds it.
  return html`<details class="card ${kindTones[kind]}" ${count <= maxOpenList && new Html("open")}>
    <summary>
      <h2>${text.titles[kind]}</h2>
      <span class="badge">${text.count(count)}</span>
    </summary>
    <div class="inside" id="${kind}">
      <p>${text.advice[kind]}</p>
      ${kind === "bad_row" || kind === "unmatched_row" ? problemTable(findings, text) : paymentTable(findings, text)}
      ${left > 0 && html`<p>${text.more(text.count(left))}</p>`}
    </div>
  </details>`;
}

function paymentTable(findings: readonly StatementFinding[], text: ReportText): Html {
  const hasDifference = findings.some(({ difference }) => difference);
  return reportTable(findings, [
    { label: text.line, look: "number", cell: (finding) => lineCell(finding, text) },
    { label: text.payment, cell: paymentCell },
    { label: text.statement, cell: (finding) => statementCell(finding, text) },
    { label: text.stored, cell: (finding) => storedCell(finding, text) },
    { label: hasDifference ? text.difference : text.other, cell: (finding) => differenceCell(finding, text) },
  ]);
}

function problemTable(findings: readonly StatementFinding[], text: ReportText): Html {
  return reportTable(findings, [
    { label: text.line, look: "number", cell: (finding) => lineCell(finding, text) },
    { label: text.statement, cell: (finding) => statementCell(finding, text) },
    { label: text.problem, cell: problemCell },
  ]);
}

function lineCell({ firstLine, line }: StatementFinding, text: ReportText): string {
  return [firstLine, line]
    .filter((one) => one !== undefined)
    .map(text.count)
    .join(", ");
}

function paymentCell({ clientId, serviceId, payout, reference }: StatementFinding): Html {
  return html`<span
    ><code>${clientId ?? serviceId ?? payout}</code
    >${reference !== undefined && html`<small>${reference}</small>`}</span
  >`;
}

function statementCell({ statement, source }: StatementFinding, text: ReportText): Html | undefined {
  if (!statement) return undefined;
  const { status, time } = statement;
  return amountCell(text.money(statement), [source, status, time && formatTime(time)]);
}

function storedCell({ stored }: StatementFinding, text: ReportText): Html | undefined {
  if (!stored) return undefined;
  const { state, completedAt } = stored;
  return amountCell(text.money(stored), [state, completedAt && formatTime(completedAt)]);
}

/** Returns an amount with details below it, in pieces that do not break. */
function amountCell(amount: string, details: readonly (string | undefined)[]): Html {
  const pieces = details.filter(Boolean).map((piece) => html`<span>${piece}</span> `);
  return html`<span>${amount}<small class="pieces">${pieces}</small></span>`;
}

function differenceCell({ difference, statement, other }: StatementFinding, text: ReportText): Html | false {
  if (difference !== undefined && statement)
    return html`<span class="pieces">${text.money({ ...statement, value: difference })}</span>`;
  return other !== undefined && html`<code>${other}</code>`;
}

function problemCell({ problem, clientId, serviceId }: StatementFinding): Html {
  const details = [problem?.code, clientId ?? serviceId].filter(Boolean).join(" · ");
  return html`<span
    >${problem?.message}<small><code>${details}</code></small></span
  >`;
}
