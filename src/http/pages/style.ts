/** The one style sheet of the kit's pages: no external assets, light and dark, phone first. */
export const style = `
:root { color-scheme: light dark; --paper: #f4f5f7; --card: #fff; --ink: #1a1d24; --soft: #565d6b; --line: #e2e5ea;
  --accent: #1f5fd6; --on-accent: #fff; --good: #157a48; --good-paper: #e3f5ea; --calm: #8a5a00; --calm-paper: #fdf1d8;
  --bad: #b3261e; --bad-paper: #fce8e6; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12141a; --card: #1b1e26; --ink: #eef0f4; --soft: #a5acba; --line: #2e333f; --accent: #8ab4ff;
    --on-accent: #0c1a33; --good: #6bdca0; --good-paper: #14352a; --calm: #f2c465; --calm-paper: #3a2e12; --bad: #ff9d94;
    --bad-paper: #43201d; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 2rem 1.5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1.25rem; text-align: center; box-shadow: 0 1px 2px rgb(0 0 0 / .04), 0 12px 32px rgb(0 0 0 / .06); }
.shop { margin: 0 0 1.5rem; color: var(--soft); font-size: .875rem; font-weight: 600; letter-spacing: .01em; }
.mark { width: 4.5rem; height: 4.5rem; margin: 0 auto 1.25rem; border-radius: 50%; display: grid; place-items: center;
  background: var(--tint); color: var(--tone); }
.mark svg { width: 2.25rem; height: 2.25rem; fill: none; stroke: currentColor; stroke-width: 2.25;
  stroke-linecap: round; stroke-linejoin: round; display: none; }
[data-state] { --tone: var(--soft); --tint: var(--paper); }
[data-state=confirming], [data-state=unavailable] { --tone: var(--accent); --tint: color-mix(in srgb, var(--accent) 14%, var(--card)); }
[data-state=paid] { --tone: var(--good); --tint: var(--good-paper); }
[data-state=canceled] { --tone: var(--calm); --tint: var(--calm-paper); }
[data-state=failed] { --tone: var(--bad); --tint: var(--bad-paper); }
[data-state=confirming] .i-confirming, [data-state=unavailable] .i-confirming, [data-state=paid] .i-paid, [data-state=canceled] .i-canceled,
[data-state=failed] .i-failed, [data-state=not_found] .i-not-found { display: block; }
.i-confirming { animation: turn 1.1s linear infinite; }
@keyframes turn { to { transform: rotate(360deg); } }
.i-paid { stroke-dasharray: 24; animation: draw .45s ease-out .1s backwards; }
@keyframes draw { from { stroke-dashoffset: 24; } }
@media (prefers-reduced-motion: reduce) { .i-confirming { animation-duration: 6s; } .i-paid { animation: none; } }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
.message { margin: 0; color: var(--soft); text-wrap: balance; }
dl { margin: 1.75rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--line); display: grid; gap: .5rem; }
dl div { display: flex; justify-content: space-between; gap: 1rem; }
dt { color: var(--soft); }
dd { margin: 0; font-weight: 600; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.actions { margin: 1.75rem 0 0; display: grid; gap: .75rem; }
.actions a { display: block; padding: .8rem 1rem; border-radius: .75rem; font-weight: 600; text-decoration: none;
  background: var(--accent); color: var(--on-accent); }
.actions a.second { background: transparent; color: var(--accent); border: 1px solid var(--line); }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;
