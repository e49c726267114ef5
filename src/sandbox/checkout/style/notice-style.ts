import { type Html, html } from "../../../pages/html.js";
import { checkoutStyle } from "./checkout-style.js";

/** A checkout page that only tells something. */
export function noticeStyle(nonce: string): Html {
  return html`${checkoutStyle(nonce)}
    <style nonce="${nonce}">
      .notice {
        text-align: center;
        justify-content: center;
      }
      .notice .actions {
        margin-top: 0;
      }
      .notice .sign {
        display: block;
        width: 4.5rem;
        height: 4.5rem;
        margin: 0 auto 1.25rem;
        color: var(--accent);
      }
      .notice .sign.bad {
        color: var(--bad);
      }
      .notice h1 {
        font-size: 1.5rem;
        line-height: 1.25;
        font-weight: 650;
        margin-bottom: 0.5rem;
      }
      .notice .total {
        margin-top: 1rem;
        font-size: 1.125rem;
        font-weight: 600;
      }
      .notice p {
        color: var(--soft);
        text-wrap: pretty;
      }
      .notice .total {
        color: var(--ink);
      }
    </style>`;
}
