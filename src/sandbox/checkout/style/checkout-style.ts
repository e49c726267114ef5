import { type Html, html } from "../../../pages/html.js";

/** The pages that customers see: one card, made for a phone first. */
export function checkoutStyle(nonce: string): Html {
  return html`<style nonce="${nonce}">
    .checkout {
      width: 100%;
      max-width: 28rem;
      margin: 0 auto;
      padding: 1.75rem 1.25rem;
      padding-bottom: max(1.5rem, env(safe-area-inset-bottom));
      flex: 1;
      display: flex;
      flex-direction: column;
    }
    .checkout form {
      flex: 1;
      display: flex;
      flex-direction: column;
    }
    .payee {
      display: flex;
      align-items: center;
      gap: 0.75rem;
    }
    .mark {
      flex: none;
      display: grid;
      place-items: center;
      width: 3rem;
      height: 3rem;
      border-radius: 0.875rem;
      background: var(--accent);
      color: var(--on-accent);
      font-size: 1.25rem;
      font-weight: 650;
    }
    .payee small {
      display: block;
      font-size: 0.875rem;
      line-height: 1.3;
      font-weight: 400;
      color: var(--soft);
    }
    .payee h1 {
      font-size: 1.125rem;
      line-height: 1.3;
      font-weight: 600;
    }
    .amount {
      margin: 1.5rem 0 1.75rem;
      display: flex;
      flex-wrap: wrap;
      align-items: baseline;
      gap: 0 0.5rem;
    }
    .amount strong {
      font-size: clamp(2.25rem, 12vw, 3.25rem);
      line-height: 1.1;
      font-weight: 650;
      letter-spacing: -0.025em;
      font-variant-numeric: tabular-nums;
      overflow-wrap: anywhere;
    }
    .amount .long {
      font-size: 1.5rem;
      letter-spacing: 0;
    }
    .amount span {
      font-size: 1.25rem;
      color: var(--soft);
      font-weight: 550;
    }
    legend {
      font-weight: 600;
      margin-bottom: 0.75rem;
    }
    .providers {
      display: grid;
      gap: 0.625rem;
    }
    .provider {
      position: relative;
      display: flex;
      align-items: center;
      gap: 0.875rem;
      min-height: 4.25rem;
      padding: 0.75rem 1rem;
      border-radius: 1rem;
      background: var(--card);
      cursor: pointer;
      box-shadow: inset 0 0 0 1px var(--edge);
    }
    .provider:hover {
      background: var(--tint);
    }
    .provider:has(:checked) {
      background: var(--tint);
      box-shadow: inset 0 0 0 2px var(--accent);
    }
    .provider:has(:focus-visible) {
      outline: 3px solid var(--focus);
      outline-offset: 3px;
    }
    .provider input:focus-visible {
      outline: none;
    }
    .provider input {
      flex: none;
      width: 1.375rem;
      height: 1.375rem;
      margin: 0;
      accent-color: var(--accent);
    }
    .provider .logo {
      flex: none;
      display: grid;
      place-items: center;
      width: 2.5rem;
      height: 2.5rem;
      border-radius: 0.75rem;
      background: #3b4a9c;
      color: #ffffff;
      font-weight: 650;
    }
    .provider:nth-of-type(3n + 2) .logo {
      background: #a2421c;
    }
    .provider:nth-of-type(3n + 3) .logo {
      background: #73397f;
    }
    .provider .name {
      flex: 1;
      font-weight: 550;
    }
    .provider code {
      color: var(--soft);
    }
    .error {
      margin-top: 1rem;
      padding: 0.75rem 1rem;
      border-radius: 0.75rem;
      background: var(--bad-tint);
      color: var(--bad);
      font-weight: 550;
    }
    .actions {
      display: grid;
      gap: 0.5rem;
      margin-top: auto;
      padding-top: 1.75rem;
    }
    .button {
      appearance: none;
      display: flex;
      align-items: center;
      justify-content: center;
      width: 100%;
      min-height: 3.5rem;
      padding: 0.75rem 1.25rem;
      border: 0;
      border-radius: 1rem;
      font: inherit;
      font-weight: 600;
      font-size: 1.0625rem;
      text-align: center;
      text-decoration: none;
      cursor: pointer;
      background: transparent;
      color: var(--ink);
    }
    .button:hover {
      background: var(--line);
    }
    .button.main {
      background: var(--accent);
      color: var(--on-accent);
    }
    .button.main:hover,
    .button.main:active {
      background: var(--accent-pressed);
    }
    .number {
      margin-top: 1rem;
      text-align: center;
      font-size: 0.8125rem;
      color: var(--soft);
    }
    @media (min-width: 40rem) {
      body {
        justify-content: center;
      }
      .checkout {
        flex: none;
        margin: auto;
        padding: 2.25rem 2.25rem 1.75rem;
        background: var(--card);
        border-radius: 1.5rem;
        box-shadow: var(--shadow);
      }
    }
    @media (prefers-reduced-motion: no-preference) {
      .button,
      .provider {
        transition:
          background-color 120ms,
          box-shadow 120ms;
      }
    }
  </style>`;
}
