import { createHash } from "node:crypto";
import { html, Html } from "../../pages/html.js";
import { type FindingKind, type StatementFinding } from "../finding.js";
import { type StatementSummary } from "../summary.js";
import { findingLists, kindChart } from "./findings-section.js";
import { channelSection, currencySection } from "./money-section.js";
import { type StatementReport } from "./report.js";
import { showCount, showPeriod, showTime } from "./show.js";
import { reportStyle } from "./style.js";
import { type ReportLanguage, reportTexts } from "./texts.js";

/** What an HTML report may be told. */
export interface HtmlReportOptions {
  /** @default "en" */
  language?: ReportLanguage | undefined;
  /** What the statement is called: its file's name. */
  name?: string | undefined;
  /** @default now */
  madeAt?: Date | undefined;
  /**
   * Most findings of each kind that are listed; the others are counted.
   *
   * @default 200
   */
  listed?: number | undefined;
}

/**
 * The report for people: one HTML file that needs nothing else, runs nothing, and reads on a phone, on a desktop, in the dark
 * and on paper. Everything in it is escaped, and its own policy allows it no script and no address.
 */
export function htmlReport({
  language = "en",
  name,
  madeAt = new Date(),
  listed = 200,
}: HtmlReportOptions = {}): StatementReport {
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

// By its hash: a policy of a file cannot name a nonce that is new each time.
const styleHash = createHash("sha256").update(reportStyle).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;

function page(
  kept: ReadonlyMap<FindingKind, readonly StatementFinding[]>,
  summary: StatementSummary,
  { language, name, madeAt }: { language: ReportLanguage; name: string | undefined; madeAt: Date },
): string {
  const text = reportTexts[language];
  const { period } = summary;
  // The style stands alone between its tags, byte for byte as it was hashed.
  const style = new Html(`<style>${reportStyle}</style>`);
  const document = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${[text.title, name].filter(Boolean).join(" · ")}</title>
        <link rel="icon" href="data:," />
        ${style}
      </head>
      <body>
        <main>
          <header class="top">
            <h1>${text.title}</h1>
            <dl>
              ${name !== undefined && fact(text.statement, [name])}
              ${period && fact(text.period, showPeriod(period))}
              ${fact(text.madeAt, [showTime(madeAt.toISOString())])}
            </dl>
          </header>
          ${verdict(summary, language)}
          <div class="two">
            ${kindChart(summary, language)} ${currencySection(summary, language)}
            ${channelSection(summary, language)}
          </div>
          ${findingLists(kept, summary, language)}
        </main>
      </body>
    </html>`;
  return `${document.toString()}\n`;
}

/** A label with a text, or with two that something reaches between. */
function fact(label: string, [first = "", last]: readonly string[]): Html {
  return html`<div>
    <dt>${label}</dt>
    <dd>
      ${last === undefined ? first : html`<span class="keep">${first} –</span> <span class="keep">${last}</span>`}
    </dd>
  </div>`;
}

function verdict(
  { balanced, differences, rows, counts, books }: StatementSummary,
  language: ReportLanguage,
): Html {
  const text = reportTexts[language];
  const show = (count: number): string => showCount(count, language);
  const { unpaid, foreign, outsidePeriod } = text.counted;
  const facts: [number, string][] = [
    [rows.read, text.counted.read],
    [books, text.counted.books],
    ...(
      [
        [rows.unpaid, unpaid],
        [rows.foreign, foreign],
        [rows.outsidePeriod, outsidePeriod],
      ] as [number, string][]
    ).filter(([count]) => count > 0),
  ];
  return html`<section class="verdict ${balanced ? "good" : "loss"}">
    <strong>${balanced ? text.agreed : text.differs(differences, counts.bad_row, show)}</strong>
    <p>
      ${balanced ? text.agreedDetail(show(rows.matched)) : text.differsDetail(show(rows.matched), show(rows.read))}
    </p>
    <ul>
      ${facts.map(([count, label]) => html`<li><b>${show(count)}</b> ${label}</li>`)}
    </ul>
  </section>`;
}
