import { baseStyle } from "../../pages/design/base.js";
import { dataStyle } from "../../pages/design/components.js";

/** The tones that only this report has. */
const tones = `
.twice { --tone: #6b3fa0; --paper: #f0e8fa; }
.note { --tone: var(--soft); --paper: var(--line); }
@media (prefers-color-scheme: dark) { .twice { --tone: #cdb0f5; --paper: #33264a; } }
`;

const layout = `
main {
  width: 100%; max-width: 68rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; display: grid; gap: 1.25rem;
  font-variant-numeric: tabular-nums;
}
main > * { min-width: 0; }
h2 { letter-spacing: -0.01em; }
.top { display: grid; gap: 0.35rem; color: var(--soft); }
.top h1 { font-size: 1rem; font-weight: 600; letter-spacing: 0.01em; }
.top dl { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; font-size: 0.875rem; }
.top dl div { display: flex; gap: 0.4rem; }
.top dd { color: var(--ink); }
.verdict { display: grid; gap: 0.35rem; padding: 1.25rem; border-radius: 1rem; background: var(--paper); color: var(--tone); }
.verdict strong {
  font-size: clamp(1.5rem, 5vw, 2.1rem); font-weight: 650; line-height: 1.15; letter-spacing: -0.02em; text-wrap: balance;
}
.verdict p { color: var(--ink); text-wrap: pretty; }
.verdict ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; font-size: 0.875rem; color: var(--soft); }
.verdict b { color: var(--ink); font-weight: 600; }
.two { display: grid; gap: 1.25rem; align-items: start; grid-template-columns: minmax(0, 1fr); }
.two h2, .inside { margin-bottom: 0.9rem; }
.findings { display: grid; gap: 0.75rem; }
details.card { padding: 0 1.25rem; }
details > summary { padding: 0.9rem 0; color: var(--ink); }
details > summary::before { color: var(--soft); }
summary h2 { flex: 1; font-size: 1.0625rem; }
.inside { scroll-margin-top: 4rem; display: grid; gap: 0.9rem; }
.inside > p { color: var(--soft); text-wrap: pretty; }
@media (min-width: 60rem) {
  .two { grid-template: "money kinds" auto "money channels" 1fr / minmax(0, 1fr) minmax(0, 1fr); }
  .money { grid-area: money; }
  .kinds { grid-area: kinds; }
  .channels { grid-area: channels; }
}
@media print { body { background: none; } .card, .verdict { break-inside: avoid; } }
`;

const charts = `
.bar { display: block; width: 100%; height: 0.75rem; border-radius: 0.375rem; background: var(--line); }
.bar.thin { height: 0.5rem; }
.bar rect { fill: var(--tone); }
.currencies { display: grid; gap: 1.5rem; }
.currency h3 { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.1rem 1rem; margin-bottom: 0.6rem; }
.currency h3 span { align-self: end; font-weight: 400; font-size: 0.875rem; color: var(--soft); }
.currency h3 b { color: var(--tone); font-weight: 600; }
.side { display: grid; gap: 0.3rem; margin-top: 0.6rem; }
.side dl { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
.side dt { color: var(--soft); }
.side dd, .chart b { font-weight: 600; }
.parts { display: grid; gap: 0.2rem; margin-top: 0.1rem; font-size: 0.9375rem; }
.parts li { display: grid; grid-template-columns: auto 1fr auto; gap: 0.6rem; align-items: baseline; }
.parts li::before { content: ""; width: 0.65rem; height: 0.65rem; border-radius: 0.2rem; background: var(--tone); }
.parts .value { display: block; text-align: right; white-space: nowrap; }
.chart { display: grid; gap: 0.75rem; }
.chart a { display: grid; grid-template-columns: 1fr auto; gap: 0.15rem 1rem; color: inherit; text-decoration: none; }
.chart a span:first-child { text-decoration: underline; text-decoration-color: var(--line); text-underline-offset: 0.2em; }
.chart a:hover span:first-child { text-decoration-color: currentColor; }
.chart svg { grid-column: 1 / -1; }
`;

/** The style of tables. On a phone, each row is a block with the column's name before each value. */
const tables = `
small { display: block; color: var(--soft); font-size: 0.8125rem; }
small.same { display: inline; }
.pieces span, .keep { white-space: nowrap; }
.pieces span:not(:last-child)::after { content: " ·"; }
td.wide { min-width: 7rem; vertical-align: middle; }
@media (max-width: 44rem) {
  .stack, .stack tbody, .stack tr, .stack td { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { border-top: 1px solid var(--line); padding: 0.6rem 0; }
  .stack tbody tr:first-child { border-top: 0; padding-top: 0; }
  .stack td {
    display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); align-items: baseline; gap: 0.75rem; padding: 0.1rem 0;
    border: 0; text-align: left; white-space: normal;
  }
  .stack td::before { content: attr(data-label); color: var(--soft); font-size: 0.8125rem; }
  .stack td.wide { align-items: center; }
  .stack td.number { width: auto; }
  .stack td:empty { display: none; }
}
`;

/** The style of the report: the design of every page, with charts, and tables that fit a phone and paper. */
export const reportStyle = baseStyle + dataStyle + tones + layout + charts + tables;
