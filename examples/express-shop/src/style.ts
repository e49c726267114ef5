/** The shop's one style sheet: phone first, light and dark. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #fbf6ee; --card: #fff; --ink: #21302f; --soft: #5b6b69; --line: #e8dfd0; --accent: #0d6e63; --on-accent: #fff;
  --good: #14703f; --good-tint: #def3e4; --info: #1d57b5; --info-tint: #e2ecfd; --warn: #8a4b00; --warn-tint: #fdeed2;
  --bad: #b3261e; --shadow: 0 1px 2px rgb(60 40 10 / 6%), 0 8px 24px rgb(60 40 10 / 7%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #111918; --card: #1a2423; --ink: #eef4f2; --soft: #a3b3b0; --line: #2c3a38; --accent: #4fd1bd;
    --on-accent: #04211d; --good: #74dfa2; --good-tint: #143526; --info: #9cc0ff; --info-tint: #182b4d; --warn: #f5c878;
    --warn-tint: #3b2b10; --bad: #ff9d94; --shadow: none;
  }
  .drawing { filter: brightness(0.88); }
  header img { padding: 0.25rem 0.5rem; border-radius: 0.75rem; background: #fff; }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1, h2, p, ul, dl, dd { margin: 0; padding: 0; }
ul { list-style: none; }
h1 { font-size: 1.625rem; line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
h2 { font-size: 1.0625rem; line-height: 1.3; }
a { color: var(--accent); text-underline-offset: 0.18em; }
:focus-visible { outline: 3px solid var(--info); outline-offset: 3px; }
.soft { color: var(--soft); }
.small { font-size: 0.875rem; }

header, main { max-width: 60rem; margin: 0 auto; padding: 1rem clamp(1.25rem, 4vw, 2rem); }
header a { display: inline-block; }
header img { display: block; height: 2.25rem; }
main { padding-bottom: 4rem; }
.hero { max-width: 22ch; margin: 0.5rem 0 1.5rem; font-size: clamp(1.75rem, 7vw, 2.75rem); line-height: 1.1; }

.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem; box-shadow: var(--shadow); overflow: hidden;
}
.drawing { display: block; width: 100%; height: auto; }
button, .button {
  display: block; width: 100%; min-height: 3rem; padding: 0.7rem 1rem; border: 1px solid transparent; border-radius: 0.875rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 650; text-align: center;
  text-decoration: none; cursor: pointer;
}
button:hover, .button:hover { filter: brightness(1.08); }
button.quiet { background: transparent; border-color: color-mix(in srgb, var(--accent) 45%, transparent); color: var(--accent); }
.state { display: inline-block; padding: 0.125rem 0.75rem; border-radius: 1rem; font-size: 0.875rem; font-weight: 650; }
.state.paid { background: var(--good-tint); color: var(--good); }
.state.confirming { background: var(--info-tint); color: var(--info); }
.state.unpaid { background: var(--warn-tint); color: var(--warn); }
dl { display: grid; gap: 0.375rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
dl div { display: flex; justify-content: space-between; gap: 1rem; }
dt { color: var(--soft); white-space: nowrap; }
dd { text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.total dd { font-weight: 700; }

.products { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 45%), 1fr)); }
.product { display: flex; flex-direction: column; }
.product > :not(.drawing) { margin: 0 0.875rem; }
.product .drawing { margin-bottom: 0.75rem; }
.product .price { margin-top: auto; padding-top: 0.5rem; font-weight: 700; font-variant-numeric: tabular-nums; }
.product form { padding: 0.75rem 0 0.875rem; }
.order, .notice { max-width: 27rem; margin: 0.5rem auto 0; }
.order > :not(.drawing), .notice > * { margin: 1rem 1.25rem 0; }
.order > :last-child, .notice > :last-child { margin-bottom: 1.5rem; }
.order > a:not(.button), .notice > a:not(.button) { display: block; text-align: center; }
.order > .keep { text-align: center; }
.order > .button, .notice .button { width: auto; }

.desk {
  display: grid; gap: 1rem; margin-top: 1rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr));
}
.desk > :first-child { grid-column: 1 / -1; }
.panel { padding: 1rem 1.25rem; }
.panel.alarm { border-color: var(--bad); }
.panel.alarm h2 { color: var(--bad); }
.panel ul { margin: 0.75rem 0 -0.75rem; }
.panel li { display: grid; gap: 0.125rem; padding: 0.75rem 0; overflow-wrap: anywhere; border-top: 1px solid var(--line); }
.panel p { margin-top: 0.25rem; }
.panel .row { grid-template-columns: minmax(0, 1fr) auto; align-items: center; column-gap: 1rem; font-variant-numeric: tabular-nums; }
.panel .row > a { white-space: nowrap; }
.panel .row > :nth-child(5) { grid-column: 1 / -1; }
.panel .row > :nth-child(even) { justify-self: end; font-weight: 650; }
`;
