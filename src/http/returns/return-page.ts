import { type ReturnView } from "../../checkout/handle-return.js";
import { type ReturnTranslations, translationsIn } from "../../checkout/return-translations.js";
import { type ReturnOptions } from "../../kit/options/return-options.js";
import { receivedOf } from "../../model/attempts.js";
import { type Payment } from "../../model/payment.js";
import { baseStyle } from "../../pages/design/base.js";
import { formStyle } from "../../pages/design/components.js";
import { formatMoney } from "../../pages/format.js";
import { type Html, type HtmlFragment, html } from "../../pages/html.js";
import { htmlPage, drawing } from "../../pages/page.js";
import { accentStyle, backgroundStyle } from "./colours.js";
import { liveMs, liveScript } from "./live-script.js";

/** The input of a page, except the payment. */
export interface PageFrame {
  /** The code of a language that `returnTranslations` or `shop.translations` has. */
  language: string;
  nonce: string;
  shop: Pick<
    ReturnOptions,
    "shopName" | "logoUrl" | "accent" | "background" | "backLabel" | "contact" | "translations"
  >;
  /** The addresses of the shop, of the order and of a new attempt, with filled-in placeholders. */
  backUrl?: string | undefined;
  orderUrl?: string | undefined;
  payAgainUrl?: string | undefined;
}

function translationsOf({ language, shop }: Pick<PageFrame, "language" | "shop">): ReturnTranslations {
  return translationsIn(language, shop.translations);
}

/** Returns the values that the page shows for a payment. The page also reads them repeatedly, as JSON. */
export function returnStatus(
  { state, payment, canClaim }: Pick<ReturnView, "state" | "payment" | "canClaim">,
  frame: Pick<PageFrame, "language" | "shop">,
) {
  const { title, message } = translationsOf(frame)[state];
  return {
    state,
    title,
    message: message.replaceAll("{order}", () => payment.reference),
    // After a final state the page stops asking.
    final: state === "paid",
    canClaim,
    amount: formatMoney(receivedOf(payment), frame.language),
    receipt: state === "paid" ? receiptOf(payment) : undefined,
  };
}

/** Returns the provider's number of a paid payment, if it is proven. A customer's number is never shown. */
function receiptOf({ state, reported }: Payment): string | undefined {
  return state === "completed" && reported?.verified.includes("providerId") ? reported.providerId : undefined;
}

/**
 * Returns the page for a customer who came back. If the browser runs no scripts, the page reloads itself
 * until the state is final or a quarter of an hour has passed.
 */
export function returnPage(view: ReturnView, frame: PageFrame): string {
  const { payment, waitedMs, canClaim } = view;
  const text = translationsOf(frame);
  const status = returnStatus(view, frame);
  const { amount, receipt, final } = status;
  const isLive = !final;
  const hasEnded = isLive && waitedMs >= liveMs;
  const claimLabel = view.state === "claimed" ? text.claim.correct : text.claim.offer;
  const claimLink = html`<a class="button claim" href="?claim">${claimLabel}</a>`;
  const rest = html`<dl>
      <div>
        <dt>${text.amount}</dt>
        <dd id="amount">${amount}</dd>
      </div>
      <div>
        <dt>${text.reference}</dt>
        <dd>${payment.reference}</dd>
      </div>
      <div ${receipt === undefined && html`hidden=""`}>
        <dt>${text.receipt}</dt>
        <dd id="receipt">${receipt}</dd>
      </div>
    </dl>
    <p class="actions">
      ${waysOut(frame, isLive && claimLink)}
      ${isLive && !hasEnded && html`<noscript><a class="button" href="">${text.reload}</a></noscript>`}
    </p>`;
  const delayed = returnStatus({ state: "delayed", payment, canClaim }, frame);
  const live = html`<p class="live">${text.live}</p>
    <p class="ended">${text.ended} <a href="">${text.reload}</a></p>`;
  const reloadSeconds = view.state === "confirming" ? 3 : 10;
  const head = isLive && !hasEnded && html`<noscript>${reloading(reloadSeconds)}</noscript>`;
  return page(frame, { ...status, head, rest, ...(isLive && { live, delayed, hasEnded }) });
}

/**
 * Returns the page with the form in which a customer gives the number of a payment. The page does not reload
 * itself, so that no input is lost.
 */
export function claimPage(
  frame: PageFrame,
  refused?: { outcome: "invalid"; number: string } | { outcome: "wait" },
): string {
  const text = translationsOf(frame).claim;
  const rest = html`<form method="post" action="?claim">
    <div class="field">
      <label for="number">${text.number}</label>
      <input
        id="number"
        name="number"
        value="${refused?.outcome === "invalid" && refused.number}"
        required
        minlength="4"
        maxlength="40"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        enterkeyhint="send"
        ${refused && html`aria-invalid="true" aria-describedby="refused"`}
      />
      ${refused && html`<strong class="hint bad" id="refused" role="alert">${text[refused.outcome]}</strong>`}
    </div>
    <p class="actions">
      <button class="button main">${text.send}</button>
      <a class="button plain" href="?">${text.back}</a>
    </p>
  </form>`;
  return page(frame, { state: "claim", ...text, rest });
}

/** Returns the page for an address that is unknown or expired. */
export function notFoundPage(frame: PageFrame): string {
  const rest = frame.backUrl !== undefined && html`<p class="actions">${waysOut(frame)}</p>`;
  return page(frame, { state: "not_found", ...translationsOf(frame).notFound, rest });
}

/**
 * Returns the links in their order: to a new attempt, to the order or else the shop, to the form of a claim,
 * and to the shop. The first visible link is the button of the page. The style shows the link to a new
 * attempt only if a new attempt is safe.
 */
function waysOut(frame: PageFrame, claim?: HtmlFragment): HtmlFragment {
  const { shop, backUrl, orderUrl, payAgainUrl } = frame;
  const text = translationsOf(frame);
  const link = (address: string, label: string, kind: string) =>
    html`<a class="button ${kind}" href="${address}">${label}</a>`;
  const [first, ...others] = [
    [orderUrl, text.order] as const,
    [backUrl, shop.backLabel ?? text.back] as const,
  ].flatMap(([address, label]) => (address === undefined ? [] : [{ address, label }]));
  return [
    payAgainUrl !== undefined && link(payAgainUrl, text.payAgain, "main again"),
    first && link(first.address, first.label, "main"),
    claim,
    others.map(({ address, label }) => link(address, label, "plain")),
  ];
}

/** Returns the page for the time when the store does not answer. The page reloads itself. */
export function unavailablePage(frame: PageFrame): string {
  const text = translationsOf(frame).unavailable;
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
  /** The text about updates of the page. A page without this text has no script. */
  live?: Html;
  /** The text that the script shows after a minute, even without an answer. */
  delayed?: { title: string; message: string };
  hasEnded?: boolean;
  canClaim?: boolean;
}

function page(frame: PageFrame, content: PageContent): string {
  const { language, nonce, shop } = frame;
  const { state, title, message, head, rest, live, delayed, hasEnded = false, canClaim = false } = content;
  const body = html`<div class="centre">
    <main
      class="sheet card"
      data-state="${state}"
      ${hasEnded && html`data-ended=""`}
      ${canClaim && html`data-can-claim=""`}
      data-delayed-title="${delayed?.title}"
      data-delayed-message="${delayed?.message}"
    >
      ${brand(shop)}
      <div class="sign" aria-hidden="true">${signs}</div>
      <div role="status" aria-live="polite">
        <h1 id="title">${title}</h1>
        <p id="message">${message}</p>
        ${live}
        ${shop.contact !== undefined && html`<p class="contact">${translationsOf(frame).contact} ${contactLink(shop.contact)}</p>`}
      </div>
      ${rest}
    </main>
  </div>`;
  const form = state === "claim" ? formStyle : "";
  const style = baseStyle + form + returnStyle + accentStyle(shop.accent) + backgroundStyle(shop.background);
  const script = live && liveScript;
  return htmlPage({ language, title, nonce, style, head, body, script }).toString();
}

function brand({ shopName, logoUrl }: PageFrame["shop"]): HtmlFragment {
  if (logoUrl === undefined) return shopName !== undefined && html`<p class="over">${shopName}</p>`;
  return html`<p class="over"><img class="logo" src="${logoUrl}" alt="${shopName}" /></p>`;
}

/** Returns the contact, as a link if it is an https address, an e-mail address or a telephone number. */
function contactLink(contact: string): HtmlFragment {
  const link = (href: string) => html`<a href="${href}">${contact}</a>`;
  if (/^https:\/\/[^\s]+$/.test(contact)) return link(contact);
  if (/^[^\s@]+@[^\s@]+$/.test(contact)) return link(`mailto:${encodeURI(contact)}`);
  return /^\+?[\d ().-]{5,24}$/.test(contact) ? link(`tel:${contact.replace(/[^\d+]/g, "")}`) : contact;
}

/** All signs. The style shows only one, so the script only has to change the state. */
const signs = (["circle", "clock", "tick", "back", "alert", "search"] as const).map(drawing);

const returnStyle = `
.sign svg { display: none; }
[data-state=confirming] .circle, [data-state=unavailable] .circle, [data-state=paid] .tick,
[data-state=delayed] .clock, [data-state=canceled] .back, [data-state=refunded] .back, [data-state=failed] .alert,
:is([data-state=mismatch], [data-state=claim], [data-state=claimed], [data-state=not_found]) .search { display: block; }
.live, .ended, .contact { display: none; }
:is([data-state=confirming], [data-state=delayed], [data-state=claimed], [data-state=mismatch]):not([data-ended]) .live,
:is([data-state=confirming], [data-state=delayed], [data-state=claimed], [data-state=mismatch])[data-ended] .ended,
:is([data-state=delayed], [data-state=claimed], [data-state=mismatch], [data-state=failed], [data-state=refunded],
[data-state=not_found]) .contact { display: block; }
[hidden] { display: none !important; }
.button.claim, .button.again { display: none; }
[data-can-claim]:is([data-state=delayed], [data-state=claimed]) .claim,
:is([data-state=canceled], [data-state=failed]) .again { display: inline-flex; }
:is([data-state=canceled], [data-state=failed]) .again ~ .main { border-color: var(--edge); background: none; color: var(--ink); }
.field { margin-top: 1.5rem; text-align: start; }
.field .hint { font-weight: 400; }
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
