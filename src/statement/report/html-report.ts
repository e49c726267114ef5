import { createHash } from "node:crypto";
import { html, type Html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { htmlPage } from "../../pages/page.js";
import { requireOptions } from "../../shared/unknown-names.js";
import { type FindingKind, type StatementFinding } from "../result/finding.js";
import { type StatementSummary } from "../result/summary.js";
import { findingLists, kindChart } from "./findings-section.js";
import { channelSection, currencySection } from "./money-section.js";
import { formatPeriod, formatTime, type ReportText, reportText } from "./report-text.js";
import { type StatementReport } from "./statement-report.js";
import { reportStyle } from "./style.js";

/** Options of {@link htmlReport}. */
export interface HtmlReportOptions {
  /** The language of the page. @default "en" */
  language?: Language | undefined;
  /** The name of the statement, such as the name of its file. @default none */
  name?: string | undefined;
  /** The time at the top of the page. @default now */
  madeAt?: Date | undefined;
  /** The maximum number of findings of each kind that are listed. The others are counted. @default 200 */
  listed?: number | undefined;
}

/** Makes one HTML file for phones, desktops, dark mode and paper, without scripts or further files. */
export function htmlReport(options: HtmlReportOptions = {}): StatementReport {
  requireOptions("htmlReport", options, "{ language }");
  const { language = "en", name, madeAt = new Date(), listed = 200 } = options;
  const kept = new Map<FindingKind, StatementFinding[]>();
  return {
    add(finding) {
      const ofKind = kept.get(finding.kind) ?? [];
      if (ofKind.length < listed) ofKind.push(finding);
      kept.set(finding.kind, ofKind);
      return "";
    },
    end: (summary) => page(kept, summary, { language, name, madeAt }),
  };
}

// The policy has a hash, because a file cannot have a new nonce each time.
const styleHash = createHash("sha256").update(reportStyle).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;

function page(
  kept: ReadonlyMap<FindingKind, readonly StatementFinding[]>,
  summary: StatementSummary,
  { language, name, madeAt }: { language: Language; name: string | undefined; madeAt: Date },
): string {
  const text = reportText(language);
  const { period } = summary;
  const head = html`<meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="referrer" content="no-referrer" />`;
  const body = html`<main>
    <header class="top">
      <h1>${text.title}</h1>
      <dl>
        ${name !== undefined && reportFact(text.statement, [name])}
        ${period && reportFact(text.period, formatPeriod(period))}
        ${reportFact(text.madeAt, [formatTime(madeAt.toISOString())])}
      </dl>
    </header>
    ${verdict(summary, text)}
    <div class="two">
      ${kindChart(summary, text)} ${currencySection(summary, text)} ${channelSection(summary, text)}
    </div>
    ${findingLists(kept, summary, text)}
  </main>`;
  const title = [text.title, name].filter(Boolean).join(" · ");
  return `${htmlPage({ language, title, head, style: reportStyle, body }).toString()}\n`;
}

/** Returns a label with one text, or with the two ends of a range. */
function reportFact(label: string, [first = "", last]: readonly string[]): Html {
  return html`<div>
    <dt>${label}</dt>
    <dd>
      ${last === undefined ? first : html`<span class="keep">${first} –</span> <span class="keep">${last}</span>`}
    </dd>
  </div>`;
}

function verdict(summary: StatementSummary, text: ReportText): Html {
  const { balanced, differences, rows, counts, stored } = summary;
  const matched = text.count(rows.matched);
  const found = nonZero([
    [differences, text.differences(differences)],
    [counts.bad_row, text.badRows(counts.bad_row)],
  ]).map(([count, noun]) => `${text.count(count)} ${noun}`.replaceAll(" ", "\u00a0"));
  const facts: Counted[] = [
    [rows.read, text.read],
    [stored, text.completed],
    ...nonZero([
      [rows.unpaid, text.unpaid],
      [rows.foreign, text.foreign],
      [rows.outsidePeriod, text.outsidePeriod],
    ]),
  ];
  return html`<section class="verdict ${balanced ? "good" : "bad"}">
    <strong>${balanced ? text.agreed : found.join(", ")}</strong>
    <p>${balanced ? text.agreedDetail(matched) : text.differsDetail(matched, text.count(rows.read))}</p>
    <ul>
      ${facts.map(([count, label]) => html`<li><b>${text.count(count)}</b> ${label}</li>`)}
    </ul>
  </section>`;
}

type Counted = readonly [count: number, label: string];

function nonZero(counted: readonly Counted[]): Counted[] {
  return counted.filter(([count]) => count > 0);
}
