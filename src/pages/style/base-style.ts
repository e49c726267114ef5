import { type Html, html } from "../html.js";

/** Colours, type and the banner: what every page of the sandbox shares. */
export function baseStyle(nonce: string): Html {
  return html`<style nonce="${nonce}">
    :root {
      color-scheme: light dark;
      --page: #f3f4f1;
      --card: #ffffff;
      --ink: #15201c;
      --soft: #55615c;
      --line: #d9ded9;
      --edge: #7d8a84;
      --accent: #0b6650;
      --accent-pressed: #084f3e;
      --on-accent: #ffffff;
      --tint: #eaf5f0;
      --note: #fdf0cb;
      --note-ink: #574200;
      --bad: #a5271d;
      --bad-tint: #fdeceb;
      --focus: #1a5fd0;
      --shadow: 0 1px 2px rgb(20 32 28 / 6%), 0 12px 32px rgb(20 32 28 / 8%);
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #0e1311;
        --card: #171e1b;
        --ink: #eef3f0;
        --soft: #a6b3ad;
        --line: #2c3732;
        --edge: #71807a;
        --accent: #46cfa6;
        --accent-pressed: #6ee0bd;
        --on-accent: #04231a;
        --tint: #16302a;
        --note: #362c0c;
        --note-ink: #f5dc93;
        --bad: #ff9d94;
        --bad-tint: #3a1c1a;
        --focus: #8ab8ff;
        --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 12px 32px rgb(0 0 0 / 30%);
      }
    }
    *,
    *::before,
    *::after {
      box-sizing: border-box;
    }
    html {
      -webkit-text-size-adjust: 100%;
      text-size-adjust: 100%;
    }
    body {
      margin: 0;
      min-height: 100vh;
      min-height: 100dvh;
      display: flex;
      flex-direction: column;
      background: var(--page);
      color: var(--ink);
      font:
        1rem/1.5 system-ui,
        -apple-system,
        "Segoe UI",
        Roboto,
        "Noto Sans",
        "Helvetica Neue",
        Arial,
        sans-serif;
    }
    h1,
    h2,
    h3,
    p,
    ul,
    pre,
    dl,
    dd,
    fieldset,
    legend {
      margin: 0;
      padding: 0;
      border: 0;
      font: inherit;
    }
    ul {
      list-style: none;
    }
    a {
      color: var(--accent);
      text-underline-offset: 0.18em;
    }
    code,
    pre,
    textarea {
      font:
        0.875em/1.5 ui-monospace,
        SFMono-Regular,
        Menlo,
        Consolas,
        "Liberation Mono",
        monospace;
    }
    a,
    code,
    dd,
    h1,
    pre,
    .name {
      overflow-wrap: anywhere;
    }
    :focus-visible {
      outline: 3px solid var(--focus);
      outline-offset: 3px;
    }
    .banner {
      background: var(--note);
      color: var(--note-ink);
      text-align: center;
      font-size: 0.875rem;
      padding: 0.5rem 1rem;
      padding-top: max(0.5rem, env(safe-area-inset-top));
    }
    .hidden {
      position: absolute;
      width: 1px;
      height: 1px;
      margin: -1px;
      overflow: hidden;
      clip-path: inset(50%);
      white-space: nowrap;
    }
    .banner strong {
      font-weight: 650;
    }
  </style>`;
}
