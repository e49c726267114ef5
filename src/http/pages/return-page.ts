import { html, Html } from "../../pages/html.js";
import { type ReturnState, type ReturnView } from "../../checkout/handle-return.js";
import { formatTotal } from "./format-total.js";
import { liveScript } from "./live-script.js";
import { style } from "./style.js";
import { texts, type Language } from "./texts.js";

/** What surrounds a page. */
export interface PageFrame {
  language: Language;
  nonce: string;
  shopName?: string | undefined;
  /** Filled in already. */
  backUrl?: string | undefined;
}

/** Whether nothing more is to be expected; the page then stops asking. */
export function isFinal(state: ReturnState): boolean {
  return state === "paid";
}

/** The page of a browser that came back. Without scripts, it reloads itself while there is something to wait for. */
export function returnPage({ state, payment }: ReturnView, frame: PageFrame): string {
  const { language, backUrl } = frame;
  const text = texts[language];
  const rows = html`<dl>
    <div>
      <dt>${text.amount}</dt>
      <dd>${formatTotal(payment.total, language)}</dd>
    </div>
    <div>
      <dt>${text.reference}</dt>
      <dd>${payment.reference}</dd>
    </div>
  </dl>`;
  const actions = html`<p class="actions">
    ${backUrl !== undefined && html`<a href="${backUrl}">${text.back}</a>`}
    ${state === "confirming" && html`<noscript><a class="second" href="">${text.reload}</a></noscript>`}
  </p>`;
  return page(frame, { state, ...text[state], live: !isFinal(state), rest: [rows, actions] });
}

/** The page for an address that never was, or is no longer. */
export function notFoundPage(frame: PageFrame): string {
  return page(frame, { state: "not_found", ...texts[frame.language].notFound, live: false, rest: [] });
}

/** The page while the store does not answer; it loads itself again. */
export function unavailablePage(frame: PageFrame): string {
  return page(frame, { state: "unavailable", ...texts[frame.language].unavailable, live: false, rest: [] });
}

function page(
  { language, nonce, shopName }: PageFrame,
  content: { state: string; title: string; message: string; live: boolean; rest: readonly Html[] },
): string {
  const { state, title, message, live, rest } = content;
  // A cancel page waits too, in case the payment completes after all; only a person without scripts need not.
  const again = html`<meta http-equiv="refresh" content="3" />`;
  const refresh = html`<noscript>${again}</noscript>`;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${state === "confirming" && refresh} ${state === "unavailable" && again}
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style nonce="${nonce}">
          ${new Html(style)}
        </style>
      </head>
      <body>
        <main data-state="${state}">
          ${shopName !== undefined && html`<p class="shop">${shopName}</p>`}
          <div class="mark" aria-hidden="true">${marks}</div>
          <div role="status" aria-live="polite">
            <h1 id="title">${title}</h1>
            <p class="message" id="message">${message}</p>
          </div>
          ${rest}
        </main>
        ${
          live &&
          html`<script nonce="${nonce}">
            ${new Html(liveScript)};
          </script>`
        }
      </body>
    </html>`.toString();
}

/** All marks are there; the state shows one, so that a change of state needs no markup. */
const marks = html`<svg class="i-confirming" viewBox="0 0 24 24"><path d="M12 3a9 9 0 1 0 9 9" /></svg>
  <svg class="i-paid" viewBox="0 0 24 24"><path d="m5 12.5 4.5 4.5L19 7.5" /></svg>
  <svg class="i-canceled" viewBox="0 0 24 24"><path d="M10 7 5 12l5 5M5 12h14" /></svg>
  <svg class="i-failed" viewBox="0 0 24 24"><path d="M12 5v9M12 18.5h.01" /></svg>
  <svg class="i-not-found" viewBox="0 0 24 24">
    <path d="M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M15.5 15.5 20 20" />
  </svg>`;
