import { type ReturnState, type ReturnView } from "../../checkout/handle-return.js";
import { baseStyle } from "../../pages/design/base.js";
import { formatMoney } from "../../pages/format.js";
import { type HtmlFragment, html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { htmlPage } from "../../pages/page.js";
import { drawing } from "../../pages/sign.js";
import { returnTranslations } from "./translations.js";

/** What a page needs besides the payment. */
export interface PageFrame {
  language: Language;
  nonce: string;
  shopName?: string | undefined;
  /** The address of the shop, with its placeholders filled in. */
  backUrl?: string | undefined;
}

/** Returns whether the state is final; the page then stops asking. */
export function isFinal(state: ReturnState): boolean {
  return state === "paid";
}

/** Returns the page of a browser that came back. Without scripts it reloads itself while the payment is confirmed. */
export function returnPage({ state, payment }: ReturnView, frame: PageFrame): string {
  const { language, backUrl } = frame;
  const text = returnTranslations[language];
  const rest = html`<dl>
      <div>
        <dt>${text.amount}</dt>
        <dd>${formatMoney(payment.total, language)}</dd>
      </div>
      <div>
        <dt>${text.reference}</dt>
        <dd>${payment.reference}</dd>
      </div>
    </dl>
    <p class="actions">
      ${backUrl !== undefined && html`<a class="button main" href="${backUrl}">${text.back}</a>`}
      ${state === "confirming" && html`<noscript><a class="button" href="">${text.reload}</a></noscript>`}
    </p>`;
  return page(frame, { state, ...text[state], rest, isLive: !isFinal(state) });
}

/** Returns the page for an address that is unknown or expired. */
export function notFoundPage(frame: PageFrame): string {
  return page(frame, { state: "not_found", ...returnTranslations[frame.language].notFound });
}

/** Returns the page that is shown while the store does not answer; it reloads itself. */
export function unavailablePage(frame: PageFrame): string {
  return page(frame, { state: "unavailable", ...returnTranslations[frame.language].unavailable });
}

function page(
  { language, nonce, shopName }: PageFrame,
  content: { state: string; title: string; message: string; rest?: HtmlFragment; isLive?: boolean },
): string {
  const { state, title, message, rest, isLive = false } = content;
  // A cancel page asks too, in case the payment completes after all; without scripts it does not reload.
  const again = html`<meta http-equiv="refresh" content="3" />`;
  const head =
    state === "confirming" ? html`<noscript>${again}</noscript>` : state === "unavailable" && again;
  const body = html`<div class="centre">
    <main data-state="${state}" class="sheet card">
      ${shopName !== undefined && html`<p class="over">${shopName}</p>`}
      <div class="sign" aria-hidden="true">${signs}</div>
      <div role="status" aria-live="polite">
        <h1 id="title">${title}</h1>
        <p id="message">${message}</p>
      </div>
      ${rest}
    </main>
  </div>`;
  const script = isLive ? liveScript : undefined;
  return htmlPage({ language, title, nonce, style: baseStyle + returnStyle, head, body, script }).toString();
}

/** Every sign is in the page, and the style shows the sign of the state: the script changes the state only. */
const signs = (["circle", "tick", "back", "alert", "search"] as const).map(drawing);

const returnStyle = `
.sign svg { display: none; }
[data-state=confirming] .circle, [data-state=unavailable] .circle, [data-state=paid] .tick,
[data-state=canceled] .back, [data-state=failed] .alert, [data-state=not_found] .search { display: block; }
.sign .circle { animation: turn 1.1s linear infinite; }
.sign .tick { stroke-dasharray: 24; animation: draw 0.45s ease-out 0.1s backwards; }
@keyframes turn { to { transform: rotate(360deg); } }
@keyframes draw { from { stroke-dashoffset: 24; } }
@media (prefers-reduced-motion: reduce) { .sign .circle { animation-duration: 6s; } .sign .tick { animation: none; } }
`;

/**
 * Asks for the state until it is final, less often each time, for at most a quarter of an hour. It also asks when the
 * customer comes back from another app, because a phone delays the timers of a page in the background.
 */
const liveScript = `
(() => {
  const main = document.querySelector("main");
  const address = location.pathname.replace(/\\/+$/, "") + "/state";
  const until = Date.now() + 15 * 60 * 1000;
  let wait = 700;
  let timer;
  let over = false;
  const ask = async () => {
    clearTimeout(timer);
    try {
      const answer = await fetch(address, { cache: "no-store", headers: { Accept: "application/json" } });
      if (answer.status === 404) over = true;
      if (answer.ok) show(await answer.json());
    } catch {}
    wait = Math.min(wait * 1.2, 5000);
    clearTimeout(timer);
    if (!over && Date.now() < until) timer = setTimeout(ask, wait);
  };
  const show = ({ state, title, message, final }) => {
    if (over) return;
    over = final;
    if (state === main.dataset.state) return;
    main.dataset.state = state;
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("message").textContent = message;
  };
  document.addEventListener("visibilitychange", () => {
    if (!over && !document.hidden) ask();
  });
  timer = setTimeout(ask, wait);
})();
`;
