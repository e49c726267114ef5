import { delayedAfterMs, type ReturnView } from "../../checkout/handle-return.js";
import { type ReturnOptions } from "../../kit/options/options.js";
import { baseStyle } from "../../pages/design/base.js";
import { formatMoney } from "../../pages/format.js";
import { type Html, type HtmlFragment, html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { htmlPage } from "../../pages/page.js";
import { drawing } from "../../pages/sign.js";
import { returnTranslations } from "./translations.js";

/** The input of a page, besides the payment. */
export interface PageFrame {
  language: Language;
  nonce: string;
  shop: Pick<ReturnOptions, "shopName" | "logoUrl" | "accent" | "backLabel" | "contact">;
  /** The addresses of the shop and of the order, with their placeholders filled in. */
  backUrl?: string | undefined;
  orderUrl?: string | undefined;
}

/** Returns what the page shows of a payment in this state. The page also asks for it repeatedly, as JSON. */
export function returnStatus({ state, payment }: Pick<ReturnView, "state" | "payment">, language: Language) {
  const { title, message } = returnTranslations[language][state];
  const text = typeof message === "string" ? message : message(payment.reference);
  // After a final state the page stops asking.
  return { state, title, message: text, final: state === "paid" };
}

/** The time for which a page asks for the state. */
const liveMs = 15 * 60 * 1000;

/** Returns the page of a browser that came back. Without scripts it reloads itself while the payment may change. */
export function returnPage(view: ReturnView, frame: PageFrame): string {
  const { payment, waitedMs } = view;
  const { language } = frame;
  const text = returnTranslations[language];
  const status = returnStatus(view, language);
  const isLive = !status.final;
  const hasEnded = isLive && waitedMs >= liveMs;
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
      ${waysOut(frame)}
      ${isLive && !hasEnded && html`<noscript><a class="button" href="">${text.reload}</a></noscript>`}
    </p>`;
  const delayed = returnStatus({ state: "delayed", payment }, language);
  const live = html`<p class="live">${text.live}</p>
    <p class="ended">${text.ended} <a href="">${text.reload}</a></p>`;
  const reloadSeconds = view.state === "confirming" ? 3 : 10;
  const head = isLive && !hasEnded && html`<noscript>${reloading(reloadSeconds)}</noscript>`;
  return page(frame, { ...status, head, rest, ...(isLive && { live, delayed, hasEnded }) });
}

/** Returns the page for an address that is unknown or expired. */
export function notFoundPage(frame: PageFrame): string {
  const rest = frame.backUrl !== undefined && html`<p class="actions">${waysOut(frame)}</p>`;
  return page(frame, { state: "not_found", ...returnTranslations[frame.language].notFound, rest });
}

/** Returns the links to the order and to the shop. The first one is the button of the page. */
function waysOut({ language, shop, backUrl, orderUrl }: PageFrame): HtmlFragment {
  const text = returnTranslations[language];
  const links = [
    [orderUrl, text.order],
    [backUrl, shop.backLabel ?? text.back],
  ].filter(([address]) => address !== undefined);
  return links.map(([address, label], index) => {
    return html`<a class="button ${index === 0 ? "main" : "plain"}" href="${address}">${label}</a>`;
  });
}

/** Returns the page that is shown while the store does not answer; it reloads itself. */
export function unavailablePage(frame: PageFrame): string {
  const text = returnTranslations[frame.language].unavailable;
  return page(frame, { state: "unavailable", ...text, head: reloading(3) });
}

function reloading(seconds: number): Html {
  return html`<meta http-equiv="refresh" content="${seconds}" />`;
}

interface PageContent {
  state: string;
  title: string;
  message: string;
  head?: HtmlFragment;
  rest?: HtmlFragment;
  /** The note about updates of the page. Only a page with it has the script. */
  live?: Html;
  /** The script shows this text after a minute, also without an answer. */
  delayed?: { title: string; message: string };
  hasEnded?: boolean;
}

function page({ language, nonce, shop }: PageFrame, content: PageContent): string {
  const { state, title, message, head, rest, live, delayed, hasEnded = false } = content;
  const body = html`<div class="centre">
    <main
      class="sheet card"
      data-state="${state}"
      ${hasEnded && html`data-ended=""`}
      data-delayed-title="${delayed?.title}"
      data-delayed-message="${delayed?.message}"
    >
      ${brand(shop)}
      <div class="sign" aria-hidden="true">${signs}</div>
      <div role="status" aria-live="polite">
        <h1 id="title">${title}</h1>
        <p id="message">${message}</p>
        ${live}
        ${shop.contact !== undefined && html`<p class="contact">${returnTranslations[language].contact} ${contactLink(shop.contact)}</p>`}
      </div>
      ${rest}
    </main>
  </div>`;
  const style = baseStyle + returnStyle + accentStyle(shop.accent);
  const script = live && liveScript;
  return htmlPage({ language, title, nonce, style, head, body, script }).toString();
}

function brand({ shopName, logoUrl }: PageFrame["shop"]): HtmlFragment {
  if (logoUrl === undefined) return shopName !== undefined && html`<p class="over">${shopName}</p>`;
  return html`<p class="over"><img class="logo" src="${logoUrl}" alt="${shopName}" /></p>`;
}

/** Returns a link where the contact is an address, a mailbox or a telephone number as a whole. */
function contactLink(contact: string): HtmlFragment {
  const link = (href: string) => html`<a href="${href}">${contact}</a>`;
  if (/^https:\/\/[^\s]+$/.test(contact)) return link(contact);
  if (/^[^\s@]+@[^\s@]+$/.test(contact)) return link(`mailto:${encodeURI(contact)}`);
  return /^\+?[\d ().-]{5,24}$/.test(contact) ? link(`tel:${contact.replace(/[^\d+]/g, "")}`) : contact;
}

/** Every sign is in the page, and the style shows the sign of the state: the script changes the state only. */
const signs = (["circle", "clock", "tick", "back", "alert", "search"] as const).map(drawing);

const returnStyle = `
.sign svg { display: none; }
[data-state=confirming] .circle, [data-state=unavailable] .circle, [data-state=paid] .tick,
[data-state=delayed] .clock, [data-state=canceled] .back, [data-state=refunded] .back, [data-state=failed] .alert, [data-state=mismatch] .search,
[data-state=not_found] .search { display: block; }
.live, .ended, .contact { display: none; }
:is([data-state=confirming], [data-state=delayed], [data-state=mismatch]):not([data-ended]) .live,
:is([data-state=confirming], [data-state=delayed], [data-state=mismatch])[data-ended] .ended,
:is([data-state=delayed], [data-state=mismatch], [data-state=failed], [data-state=refunded],
[data-state=not_found]) .contact { display: block; }
.live, .ended, .contact { margin-top: 0.75rem; font-size: 0.9375rem; overflow-wrap: anywhere; }
#message { overflow-wrap: anywhere; }
.logo { max-width: 12rem; max-height: 3.5rem; vertical-align: middle; }
.actions noscript { display: grid; }
@media (prefers-color-scheme: dark) { .logo { padding: 0.375rem 0.625rem; border-radius: 0.5rem; background: #fff; } }
.sign .circle { animation: turn 1.1s linear infinite; }
.sign .tick { stroke-dasharray: 24; animation: draw 0.45s ease-out 0.1s backwards; }
@keyframes turn { to { transform: rotate(360deg); } }
@keyframes draw { from { stroke-dashoffset: 24; } }
@media (prefers-reduced-motion: reduce) { .sign .circle { animation-duration: 6s; } .sign .tick { animation: none; } }
`;

/**
 * Asks for the state until it is final, less and less often, for at most a quarter of an hour. Then it says
 * that it has stopped. It also asks when the customer comes back from another app, because a phone delays the
 * timers of hidden pages. After a minute it says that the payment is delayed, even if it gets no answer.
 */
const liveScript = `
(() => {
  const main = document.querySelector("main");
  const address = location.pathname.replace(/\\/+$/, "") + "/state";
  const opened = Date.now();
  let until = opened + ${liveMs};
  let wait = 700;
  let timer;
  let over = false;
  delete main.dataset.ended;
  const ask = async () => {
    clearTimeout(timer);
    try {
      const answer = await fetch(address, { cache: "no-store", headers: { Accept: "application/json" } });
      if (answer.status === 404) until = 0;
      if (answer.ok) show(await answer.json());
    } catch {}
    if (main.dataset.state === "confirming" && Date.now() >= opened + ${delayedAfterMs})
      show({ state: "delayed", title: main.dataset.delayedTitle, message: main.dataset.delayedMessage });
    wait = Math.min(wait * 1.2, 5000);
    clearTimeout(timer);
    if (over) return;
    if (Date.now() < until) timer = setTimeout(ask, wait);
    else main.dataset.ended = "";
  };
  const show = ({ state, title, message, final }) => {
    if (over) return;
    over = final;
    const now = main.dataset.state;
    if (state === now || (state === "confirming" && now === "delayed")) return;
    main.dataset.state = state;
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("message").textContent = message;
  };
  document.addEventListener("visibilitychange", () => {
    if (over || document.hidden || until === 0) return;
    until = Date.now() + ${liveMs};
    delete main.dataset.ended;
    ask();
  });
  timer = setTimeout(ask, wait);
})();
`;

type Rgb = readonly number[];

/** Returns the style that gives links and buttons the merchant's colour, or none without a colour. */
export function accentStyle(accent: string | undefined): string {
  if (accent === undefined) return "";
  const rgb = [1, 3, 5].map((at) => Number.parseInt(accent.slice(at, at + 2), 16));
  const light = accentRules(rgb, { card: [255, 255, 255], towards: 0 });
  const dark = accentRules(rgb, { card: [23, 30, 27], towards: 255 });
  return `.sheet a { ${light} }\n@media (prefers-color-scheme: dark) { .sheet a { ${dark} } }\n`;
}

/**
 * Returns the colours on one card. The colour is mixed with black or white until its contrast with the card is 4.5 to 1.
 * The text on a button has the card's colour, so it has that contrast too.
 */
function accentRules(rgb: Rgb, { card, towards }: { card: Rgb; towards: number }): string {
  const mixed = (share: number): Rgb => rgb.map((part) => Math.round(part + (towards - part) * share));
  let share = 0;
  while (contrast(mixed(share), card) < 4.5) share += 0.02;
  const hover = mixed(Math.min(1, share + 0.15));
  return `--accent: ${hex(mixed(share))}; --accent-strong: ${hex(hover)}; --on-accent: ${hex(card)};`;
}

function hex(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the contrast of two colours by WCAG 2.2. */
function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(rgb: Rgb): number {
  const weights = [0.2126, 0.7152, 0.0722];
  const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return rgb.reduce((sum, part, index) => sum + weights[index]! * linear(part / 255), 0);
}
