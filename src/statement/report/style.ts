/** The style of the report: one file, no outside assets, light and dark, phone first, and fit for paper. */
export const reportStyle = `
:root { color-scheme: light dark; --paper: #f4f5f7; --card: #fff; --ink: #1a1d24; --soft: #565d6b; --line: #e2e5ea;
  --good: #157a48; --good-paper: #e3f5ea; --loss: #b3261e; --loss-paper: #fce8e6; --change: #8a5a00; --change-paper: #fdf1d8;
  --twice: #6b3fa0; --twice-paper: #f0e8fa; --note: #565d6b; --note-paper: #eceef2; --track: #e9ebf0; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12141a; --card: #1b1e26; --ink: #eef0f4; --soft: #a5acba; --line: #2e333f; --good: #6bdca0;
    --good-paper: #14352a; --loss: #ff9d94; --loss-paper: #43201d; --change: #f2c465; --change-paper: #3a2e12;
    --twice: #cdb0f5; --twice-paper: #33264a; --note: #a5acba; --note-paper: #262a34; --track: #2a2f3a; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 68rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; display: grid; gap: 1.25rem; }
main > * { min-width: 0; }
h1, h2, h3, p, dl, dd, figure { margin: 0; }
.top { display: grid; gap: .35rem; }
.top h1 { font-size: 1rem; font-weight: 600; color: var(--soft); letter-spacing: .01em; }
.top dl { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .875rem; color: var(--soft); }
.top dl div { display: flex; gap: .4rem; }
.top dd { color: var(--ink); overflow-wrap: anywhere; }
.verdict { padding: 1.25rem; border-radius: 1rem; background: var(--tint); color: var(--tone); display: grid; gap: .35rem; }
.verdict strong { font-size: clamp(1.5rem, 5vw, 2.1rem); line-height: 1.15; letter-spacing: -.02em; text-wrap: balance; }
.verdict p { color: var(--ink); text-wrap: pretty; }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; margin: .35rem 0 0; list-style: none; font-size: .875rem;
  color: var(--soft); }
.facts b { color: var(--ink); font-weight: 600; }
.good { --tone: var(--good); --tint: var(--good-paper); }
.loss { --tone: var(--loss); --tint: var(--loss-paper); }
.change { --tone: var(--change); --tint: var(--change-paper); }
.twice { --tone: var(--twice); --tint: var(--twice-paper); }
.note { --tone: var(--note); --tint: var(--note-paper); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.1rem; }
.card > h2 { font-size: 1.125rem; letter-spacing: -.01em; margin-bottom: .9rem; }
.currencies { display: grid; gap: 1.5rem; }
.currency h3 { font-size: 1rem; display: flex; flex-wrap: wrap; justify-content: space-between; gap: .1rem 1rem; margin-bottom: .6rem; }
.currency h3 span { font-weight: 400; font-size: .875rem; color: var(--soft); align-self: end; }
.currency h3 b { color: var(--tone); font-weight: 600; }
.side { display: grid; gap: .3rem; margin-top: .6rem; }
.side dl { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
.side dt { color: var(--soft); }
.side dd { font-weight: 600; }
svg.bar { display: block; width: 100%; height: .75rem; border-radius: .375rem; background: var(--track); }
svg.bar.thin { height: .5rem; }
svg.bar rect { fill: var(--tone); }
ul.parts { list-style: none; margin: .1rem 0 0; padding: 0; display: grid; gap: .2rem; font-size: .9375rem; }
ul.parts li { display: grid; grid-template-columns: auto 1fr auto; gap: .6rem; align-items: baseline; }
ul.parts li::before { content: ""; width: .65rem; height: .65rem; border-radius: .2rem; background: var(--tone); }
ul.parts .value { text-align: right; white-space: nowrap; }
.chart { display: grid; gap: .75rem; }
.chart a { display: grid; grid-template-columns: 1fr auto; gap: .15rem 1rem; color: inherit; text-decoration: none; }
.chart a span:first-child { text-decoration: underline; text-decoration-color: var(--line); text-underline-offset: .2em; }
.chart a:hover span:first-child { text-decoration-color: currentColor; }
.chart b { font-weight: 600; }
.chart svg { grid-column: 1 / -1; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: .8125rem; padding: 0 .75rem .4rem 0; white-space: nowrap; }
td { padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; white-space: nowrap; width: 1%; }
td.wide { min-width: 7rem; vertical-align: middle; }
code { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
small { display: block; color: var(--soft); font-size: .8125rem; }
small.same { display: inline; }
.pieces span { white-space: nowrap; }
.pieces span:not(:last-child)::after { content: " ·"; }
.keep { white-space: nowrap; }
details { border: 1px solid var(--line); border-radius: 1rem; background: var(--card); }
summary { display: flex; align-items: center; gap: .75rem; padding: .9rem 1.1rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary h2 { font-size: 1.0625rem; flex: 1; letter-spacing: -.01em; }
summary .pill { background: var(--tint); color: var(--tone); font-weight: 600; font-size: .875rem; border-radius: 1rem; padding: .1rem .65rem; }
summary svg { width: 1rem; height: 1rem; fill: none; stroke: var(--soft); stroke-width: 2; flex: none; transition: transform .15s; }
details[open] summary svg { transform: rotate(90deg); }
.inside { scroll-margin-top: 4rem; padding: 0 1.1rem 1.1rem; display: grid; gap: .9rem; }
.inside > p { color: var(--soft); text-wrap: pretty; }
.findings { display: grid; gap: .75rem; }
.empty { color: var(--soft); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--good); outline-offset: 3px; border-radius: .5rem; }
.two { display: grid; gap: 1.25rem; align-items: start; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 60rem) {
  .two { grid-template: "money kinds" auto "money channels" 1fr / minmax(0, 1fr) minmax(0, 1fr); }
  .money { grid-area: money; }
  .kinds { grid-area: kinds; }
  .channels { grid-area: channels; }
}
@media (max-width: 44rem) {
  table.stack, table.stack tbody, table.stack tr, table.stack td { display: block; }
  table.stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stack tr { border-top: 1px solid var(--line); padding: .6rem 0; }
  table.stack tbody tr:first-child { border-top: 0; padding-top: 0; }
  table.stack td { border: 0; padding: .1rem 0; display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); gap: .75rem;
    text-align: left; white-space: normal; align-items: baseline; }
  table.stack td::before { content: attr(data-label); color: var(--soft); font-size: .8125rem; }
  table.stack td.wide { align-items: center; }
  table.stack td.number { width: auto; }
  table.stack td:empty { display: none; }
}
@media (prefers-reduced-motion: reduce) { summary svg { transition: none; } }
@media print { body { background: none; } .card, details, .verdict { break-inside: avoid; } }
`;
