/** The shop's one style sheet: phone first, light and dark. */
export const style = `
:root { color-scheme: light dark; --paper: #fbf6ee; --card: #fff; --ink: #21302f; --soft: #5b6b69; --line: #e8dfd0;
  --accent: #0d6e63; --on-accent: #fff; --brand: #0d6e63; --good: #14703f; --good-paper: #def3e4; --wait: #1d57b5;
  --wait-paper: #e2ecfd; --open: #8a4b00; --open-paper: #fdeed2; --bad: #b3261e;
  --shadow: 0 1px 2px rgb(60 40 10 / .06), 0 8px 24px rgb(60 40 10 / .07); }
@media (prefers-color-scheme: dark) {
  :root { --paper: #111918; --card: #1a2423; --ink: #eef4f2; --soft: #a3b3b0; --line: #2c3a38; --accent: #4fd1bd;
    --on-accent: #04211d; --good: #74dfa2; --good-paper: #143526; --wait: #9cc0ff; --wait-paper: #182b4d; --open: #f5c878;
    --open-paper: #3b2b10; --bad: #ff9d94; --shadow: none; }
  .drawing { filter: brightness(.88); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem; }
header a { display: inline-flex; align-items: center; gap: .625rem; color: var(--ink); font-weight: 700;
  font-size: 1.125rem; letter-spacing: -.01em; text-decoration: none; }
header svg { width: 2.25rem; height: 2.25rem; fill: none; stroke: #fff; stroke-width: 2.2; stroke-linecap: round; }
header rect { fill: var(--brand); stroke: none; }
header circle { fill: #ffb84d; stroke: none; }
main { padding-bottom: 4rem; }
h1, h2, p, ul, dl, dd { margin: 0; padding: 0; }
ul { list-style: none; }
h1 { font-size: 1.625rem; line-height: 1.2; letter-spacing: -.02em; text-wrap: balance; }
h2 { font-size: 1.0625rem; line-height: 1.3; }
.hero { max-width: 22ch; margin: .5rem 0 1.5rem; font-size: clamp(1.75rem, 7vw, 2.75rem); line-height: 1.1; }
a { color: var(--accent); text-underline-offset: .18em; }
.soft { color: var(--soft); }
.small { font-size: .875rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem; box-shadow: var(--shadow);
  overflow: hidden; }
.drawing { display: block; width: 100%; height: auto; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem; border: 1px solid transparent;
  border-radius: .875rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 650;
  text-align: center; text-decoration: none; cursor: pointer; }
button:hover, .button:hover { filter: brightness(1.08); }
button.quiet { background: transparent; border-color: var(--line); color: var(--accent); }
:focus-visible { outline: 3px solid var(--wait); outline-offset: 3px; }
.products { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(10rem, 45%), 1fr)); gap: .875rem; }
.product { display: flex; flex-direction: column; }
.product > :not(.drawing) { margin: 0 .875rem; }
.product .drawing { margin-bottom: .75rem; }
.product .price { margin-top: auto; padding-top: .5rem; font-weight: 700; font-variant-numeric: tabular-nums; }
.product form { padding: .75rem 0 .875rem; }
.order, .notice { max-width: 27rem; margin: .5rem auto 0; }
.order > :not(.drawing), .notice > * { margin: 1rem 1.25rem 0; }
.order > :last-child, .notice > :last-child { margin-bottom: 1.5rem; }
.order h1 { margin-top: .5rem; }
.order > a:not(.button), .notice > a:not(.button) { display: block; text-align: center; }
.notice { padding-top: .75rem; }
.order > .button, .notice .button { width: auto; }
.state { display: inline-block; padding: .125rem .75rem; border-radius: 1rem; font-size: .875rem; font-weight: 650; }
.state.paid { background: var(--good-paper); color: var(--good); }
.state.confirming { background: var(--wait-paper); color: var(--wait); }
.state.unpaid { background: var(--open-paper); color: var(--open); }
dl { border-top: 1px solid var(--line); padding-top: .75rem; display: grid; gap: .375rem; }
dl div { display: flex; justify-content: space-between; gap: 1rem; }
dt { color: var(--soft); }
dd { text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.total dd { font-weight: 700; }
.desk { display: grid; gap: 1rem; margin-top: 1rem; }
.panel { padding: 1rem 1.25rem; }
.panel.alarm { border-color: var(--bad); }
.panel.alarm h2 { color: var(--bad); }
.panel li { padding: .75rem 0; border-top: 1px solid var(--line); display: grid; gap: .125rem; overflow-wrap: anywhere; }
.panel ul { margin-top: .75rem; margin-bottom: -.75rem; }
.panel p { margin-top: .25rem; }
.panel .row { grid-template-columns: minmax(0, 1fr) auto; align-items: center; font-variant-numeric: tabular-nums; }
.panel .row > :nth-child(even) { justify-self: end; font-weight: 650; }
@media (min-width: 48rem) {
  header, main { padding-inline: 2rem; }
  .products { grid-template-columns: repeat(3, 1fr); gap: 1.25rem; }
  .desk { grid-template-columns: 1fr 1fr; align-items: start; }
  .desk > :first-child { grid-column: 1 / -1; }
}
`;
