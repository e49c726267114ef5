/** The style of panels with named values or rows, of tables, and of parts that unfold. */
export const dataStyle = `
.panel > *, .panel-part > * { padding: 0.875rem clamp(1rem, 3vw, 1.25rem); }
.panel > * + *, .panel-part > * + * { border-top: 1px solid var(--line); }
.panel > .panel-part { padding: 0; }
.panel > :first-child { border-top-left-radius: 1rem; border-top-right-radius: 1rem; }
.panel > :last-child { border-bottom-left-radius: 1rem; border-bottom-right-radius: 1rem; }
.panel h3 { margin-bottom: 0.25rem; }
.facts > div { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.125rem 1.5rem; align-items: baseline; }
.facts dt { color: var(--soft); font-size: 0.875rem; }
.value { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.25rem 0.75rem; }
.value > :first-child { flex: 1 1 12rem; min-width: 0; }
.row {
  position: relative; display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: center; gap: 0.125rem 1rem;
}
.row .what { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.row a.what { text-decoration: none; }
/* The link covers the row, so that its text need not be hit. */
.row a.what::after { content: ""; position: absolute; inset: 0; border-radius: inherit; }
.row a.what:focus-visible { outline: none; }
.row a.what:focus-visible::after { outline: 3px solid var(--focus); outline-offset: -3px; }
.row:has(a.what):hover { background: var(--tint); }
.row .more { grid-column: 1 / -1; color: var(--soft); font-size: 0.875rem; overflow-wrap: anywhere; }
.row time { white-space: nowrap; }
.row .control { grid-column: 2; grid-row: 1 / span 3; }
.row:has(.control) .more { grid-column: 1; }
.empty { color: var(--soft); }
.empty strong { display: block; color: var(--ink); font-weight: 600; }
details > summary {
  display: flex; align-items: center; gap: 0.5rem; min-height: 2.75rem; color: var(--accent); font-weight: 550;
  list-style: none; cursor: pointer;
}
details > summary::-webkit-details-marker { display: none; }
details > summary::before {
  content: ""; flex: none; width: 0.5rem; height: 0.5rem; margin: 0 0.125rem; border: solid currentColor;
  border-width: 0 2px 2px 0; transform: rotate(-45deg);
}
details[open] > summary::before { transform: rotate(45deg); }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; font-variant-numeric: tabular-nums; }
th { padding: 0 0.75rem 0.4rem 0; color: var(--soft); font-size: 0.8125rem; font-weight: 500; text-align: left; }
td { padding: 0.5rem 0.75rem 0.5rem 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
.number { width: 1%; text-align: right; white-space: nowrap; }
@media (min-width: 40rem) {
  .facts > div { grid-template-columns: 13rem minmax(0, 1fr); }
  .facts > .centred { align-items: center; }
}
@media (max-width: 39.99rem) { .row .control.wide { grid-column: 1; grid-row: auto; order: 1; margin-top: 0.5rem; } }
`;

/** The style of forms: fields under their labels, and boxes to tick. */
export const formStyle = `
.buttons, .advance { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
.advance { align-items: end; }
.advance .field { flex: 0 1 8rem; }
.fields, .inline { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); min-width: 0; }
.inline { gap: 0.75rem; align-items: end; }
.inline > .notice, .advance > .notice { grid-column: 1 / -1; flex-basis: 100%; }
.field { display: grid; gap: 0.25rem; min-width: 0; }
fieldset > .field > input, fieldset > .field > select { max-width: 28rem; }
.field label, .label, .check label { font-weight: 550; }
.hint { color: var(--soft); font-size: 0.875rem; overflow-wrap: anywhere; }
.hint.bad { color: var(--bad); }
legend { float: left; width: 100%; font-size: 1.0625rem; font-weight: 600; }
input, select { font: inherit; }
input:not([type="checkbox"]), select, textarea {
  width: 100%; min-height: 2.75rem; padding: 0.5rem 0.75rem; border: 1px solid var(--edge); border-radius: 0.75rem;
  background: var(--card); color: var(--ink);
}
:is(input, textarea)[aria-invalid="true"] { border: 2px solid var(--bad); }
textarea { min-height: 11rem; resize: vertical; }
.check {
  position: relative; display: grid; grid-template-columns: auto minmax(0, 1fr); align-content: start; gap: 0 0.75rem;
  min-width: 7rem; min-height: 2.75rem; padding: 0.5rem 0;
}
.check input { z-index: 1; width: 1.375rem; height: 1.375rem; margin: 0; accent-color: var(--accent); }
/* The label's target is the whole line. */
.check label::after { content: ""; position: absolute; inset: 0; cursor: pointer; }
.check .hint { grid-column: 2; }
.check + .check { margin-top: -0.75rem; }
.buttons .check { margin: 0; }
@media (min-width: 40rem) { .inline { grid-template-columns: minmax(0, 1fr) auto; } }
`;

/** The style of an application's frame: the navigation above or beside the content, and the sections. */
export const frameStyle = `
.skip { position: absolute; z-index: 2; top: 0; left: 0; padding: 0.75rem 1rem; background: var(--card); }
.skip:not(:focus) { transform: translateY(-110%); }
.nav { padding: 0.75rem 1rem 0; background: var(--card); box-shadow: inset 0 -1px var(--line); }
.nav .brand { display: flex; align-items: center; gap: 0.625rem; font-weight: 650; overflow-wrap: anywhere; }
.nav .brand small { display: block; color: var(--soft); font-size: 0.8125rem; font-weight: 400; }
.nav .brand svg {
  flex: none; width: 1.75rem; height: 1.75rem; padding: 0.2rem; border-radius: 0.5rem; background: #5b3fb0; color: #fff;
}
.nav ul { display: flex; flex-wrap: wrap; }
.nav a {
  display: flex; align-items: center; min-height: 2.75rem; padding: 0 clamp(0.4rem, 2.6vw, 0.75rem); color: var(--soft);
  font-size: clamp(0.9rem, 4.2vw, 1rem); font-weight: 550; text-decoration: none; white-space: nowrap;
}
.nav a:hover { color: var(--ink); text-decoration: underline; }
.nav .tabs { margin: 0.25rem -0.5rem 0; }
.nav [aria-current] { color: var(--accent); box-shadow: inset 0 -3px var(--accent); }
.nav .section { margin: 0 -1rem; padding: 0 0.5rem; flex-wrap: nowrap; overflow-x: auto; background: var(--page); box-shadow: inset 0 -1px var(--line); }
.nav .section a { padding: 0 clamp(0.3rem, 1.9vw, 0.75rem); font-size: clamp(0.8rem, 3.5vw, 1rem); }
.nav .section:not(.open) { display: none; }
.content { width: 100%; max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; align-content: start; }
.content:focus-visible { outline: none; }
.sections, .cards, .groups { display: grid; gap: 2rem; grid-template-columns: minmax(0, 1fr); }
.groups { gap: 0.75rem; }
.cards { gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }
.state { display: flex; flex-direction: column; gap: 0.25rem; }
.state .what { font-size: 1.125rem; line-height: 1.4; font-weight: 600; overflow-wrap: anywhere; }
.state .foot { margin-top: auto; padding-top: 0.5rem; }
.lead { max-width: 48rem; margin-top: 0.375rem; color: var(--soft); text-wrap: pretty; }
.head, .title, .pages { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem; }
.head, .pages { justify-content: space-between; }
.head { margin-bottom: 0.625rem; }
.head > a, .back, .pages a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.head + .lead { margin: -0.375rem 0 0.875rem; }
.lead + .panel, [data-live] > .notice + .panel { margin-top: 1rem; }
.pages { margin-top: 0.5rem; }
@media (min-width: 60rem) {
  .sides {
    flex: 1; display: grid; grid-template-columns: 15rem minmax(0, 1fr);
    background: linear-gradient(to right, var(--card) 15rem, transparent 15rem);
  }
  .nav {
    position: sticky; top: 0; align-self: start; max-height: 100vh; padding: 1.5rem 1rem; overflow-y: auto;
    box-shadow: none;
  }
  .nav .brand { padding: 0 0.75rem; }
  .nav ul, .nav .section:not(.open) { display: block; }
  .nav .tabs { margin: 1.25rem 0 0; }
  .nav a { border-radius: 0.625rem; }
  .nav [aria-current] { box-shadow: none; }
  .nav [aria-current="page"] { background: var(--tint); }
  .nav .section { margin: 0 0 0 0.75rem; background: none; box-shadow: inset 1px 0 var(--line); }
  .content { margin: 0; padding: 2.25rem 3rem 5rem; }
}
`;
