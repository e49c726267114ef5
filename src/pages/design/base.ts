/** The named colours in light and in dark. Text has a contrast of 4.5 to 1 or more with its background. */
const designTokens = `
:root {
  color-scheme: light dark;
  --page: #f4f5f2; --card: #fff; --ink: #15201c; --soft: #55615c; --line: #dfe4df; --edge: #7d8a84;
  --accent: #0b6650; --accent-strong: #084f3e; --on-accent: #fff; --tint: #e8f4ee;
  --bad: #a5271d; --bad-tint: #fdeceb; --warn: #7f5300; --warn-tint: #fdf0cb; --info: #1a55b8; --info-tint: #e7effc;
  --focus: #1a5fd0; --shadow: 0 1px 2px rgb(20 32 28 / 6%), 0 8px 28px rgb(20 32 28 / 7%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1311; --card: #171e1b; --ink: #eef3f0; --soft: #a6b3ad; --line: #2a352f; --edge: #71807a;
    --accent: #46cfa6; --accent-strong: #6ee0bd; --on-accent: #04231a; --tint: #16302a;
    --bad: #ff9d94; --bad-tint: #3a1c1a; --warn: #f5dc93; --warn-tint: #362c0c; --info: #9cc0ff; --info-tint: #182b4d;
    --focus: #8ab8ff; --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 8px 28px rgb(0 0 0 / 25%);
  }
}
`;

/** The colours of each meaning, for the badges, notices, signs and charts inside of an element. */
const toneStyle = `
.good, [data-state=paid] { --tone: var(--accent); --paper: var(--tint); }
.bad, [data-state=failed] { --tone: var(--bad); --paper: var(--bad-tint); }
.warn, [data-state=canceled], [data-state=refunded], [data-state=delayed] { --tone: var(--warn); --paper: var(--warn-tint); }
.info, [data-state=confirming], [data-state=claimed], [data-state=claim], [data-state=mismatch], [data-state=unavailable] { --tone: var(--info); --paper: var(--info-tint); }
`;

const elements = `
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
  background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
h1, h2, h3, p, ul, pre, dl, dd, fieldset, legend { margin: 0; padding: 0; border: 0; font: inherit; }
h1 { font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; text-wrap: balance; }
h2 { font-size: 1.125rem; line-height: 1.35; font-weight: 600; }
h3 { font-weight: 600; }
ul { list-style: none; }
a { color: var(--accent); text-underline-offset: 0.18em; }
code, pre, textarea {
  font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
pre { white-space: pre-wrap; }
a, code, dd, h1, pre { overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; }
.hidden {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
`;

const components = `
.card, .panel { background: var(--card); border-radius: 1rem; box-shadow: 0 0 0 1px var(--line), var(--shadow); }
.card { padding: 1.25rem; }
.drawing { fill: none; stroke: currentColor; stroke-width: 2.25; stroke-linecap: round; stroke-linejoin: round; }
.button {
  appearance: none; display: inline-flex; align-items: center; justify-content: center; gap: 0.35em;
  min-width: 2.75rem; min-height: 2.75rem; padding: 0.375rem 1rem; border: 1px solid var(--edge); border-radius: 0.75rem;
  background: var(--card); color: var(--ink); font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  cursor: pointer;
}
@media (prefers-reduced-motion: no-preference) { .button { transition: background-color 120ms; } }
.button:hover { background: var(--tint); }
.button.main { border-color: transparent; background: var(--accent); color: var(--on-accent); }
.button.main:hover { background: var(--accent-strong); }
.button.danger { color: var(--bad); }
.button.danger:hover { background: var(--bad-tint); }
.button.plain { border-color: transparent; background: none; }
.button.plain:hover { background: var(--tint); }
.badge {
  padding: 0.125rem 0.625rem; border-radius: 1rem; background: var(--paper, var(--line)); color: var(--tone, var(--soft));
  font-size: 0.8125rem; font-weight: 600; white-space: nowrap;
}
.notice {
  padding: 0.75rem 1rem; border-radius: 0.75rem; background: var(--paper); color: var(--tone); font-weight: 550;
  overflow-wrap: anywhere; scroll-margin-top: 4rem;
}
.notice.bad { white-space: pre-line; }
.notice a { color: inherit; }
.actions { display: grid; gap: 0.5rem; margin-top: 1.75rem; }
.actions .button { min-height: 3.25rem; font-size: 1.0625rem; }
`;

/** The narrow page of a customer: one card in the middle with a sign, a heading and the next step. */
const sheet = `
.centre { flex: 1; display: grid; place-items: center; padding: 1.25rem; }
.sheet { width: 100%; max-width: 27rem; padding: 2rem 1.5rem; text-align: center; }
.sheet h1 { font-size: 1.5rem; margin-bottom: 0.5rem; }
.sheet p { color: var(--soft); text-wrap: pretty; }
.sheet .over { margin-bottom: 1.5rem; font-size: 0.875rem; font-weight: 600; }
.sheet .total { margin-top: 1rem; color: var(--ink); font-size: 1.125rem; font-weight: 600; }
.sheet dl { margin-top: 1.75rem; padding-top: 1rem; border-top: 1px solid var(--line); display: grid; gap: 0.5rem; }
.sheet dl div { display: flex; justify-content: space-between; gap: 1rem; }
.sheet dt { color: var(--soft); }
.sheet dd { font-weight: 600; text-align: end; font-variant-numeric: tabular-nums; }
.reference { margin-top: 1.25rem; color: var(--soft); font-size: 0.875rem; text-align: center; }
.sign {
  width: 4.5rem; height: 4.5rem; margin: 0 auto 1.25rem; border-radius: 50%; display: grid; place-items: center;
  background: var(--paper, var(--page)); color: var(--tone, var(--soft));
}
.sign svg { width: 2.25rem; height: 2.25rem; }
`;

/** The style of every page: colours, elements, buttons, badges, notices, and the narrow page. */
export const baseStyle = designTokens + toneStyle + elements + components + sheet;
