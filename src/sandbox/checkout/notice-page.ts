import { type Html, html } from "../../pages/html.js";
import { type SandboxPayment } from "../state/payments.js";
import { formatAmount } from "../../pages/format/amount.js";
import { type Language } from "../../pages/language.js";
import { type Page } from "../page.js";
import { noticeStyle } from "./style/notice-style.js";
import { wordings } from "./words.js";

/** Tells the customer that there is nothing left to decide, and leads back to the shop. */
export function finalPage(payment: SandboxPayment, merchantName: string, language: Language): Page {
  const words = wordings[language];
  const { status, total, id, cancelUrl, successUrl } = payment;
  const [title, text, sign] = standing(status, language);
  const isOver = status === "canceled" || status === "failed";
  return noticePage(language, title, {
    sign,
    text,
    more: html`<p class="total">${formatAmount(total.value, total.currency, language)} ${total.currency}</p>
      <div class="actions">
        <a class="button main" href="${isOver ? cancelUrl : successUrl}">${words.back} ${merchantName}</a>
      </div>
      <p class="number">${words.payment} <code>${id}</code></p>`,
  });
}

function standing(status: string, language: Language): [title: string, text: string, sign: Html] {
  const words = wordings[language];
  if (status === "completed") return [words.paidTitle, words.paidText, tick];
  if (status === "canceled") return [words.canceledTitle, words.canceledText, cross];
  if (status === "failed") return [words.failedTitle, words.failedText, cross];
  return [words.underWayTitle, words.underWayText, clock];
}

/** No such payment, or no such page. */
export function unknownPage(language: Language): Page {
  const words = wordings[language];
  return noticePage(language, words.unknownTitle, { sign: cross, text: words.unknownText });
}

/** A request that no form of this sandbox sends. */
export function badRequestPage(language: Language): Page {
  const words = wordings[language];
  return noticePage(language, words.badTitle, { sign: cross, text: words.badText });
}

function noticePage(
  language: Language,
  title: string,
  { sign, text, more }: { sign: Html; text: string; more?: Html },
): Page {
  return {
    language,
    title,
    style: noticeStyle,
    main: html`<main class="checkout notice">
      ${sign}
      <h1>${title}</h1>
      <p>${text}</p>
      ${more}
    </main>`,
  };
}

const tick = html`<svg class="sign" viewBox="0 0 72 72" fill="none" stroke="currentColor" aria-hidden="true">
  <circle cx="36" cy="36" r="33" stroke-width="3" />
  <path d="m22 37 10 10 19-21" stroke-width="4.5" stroke-linecap="round" stroke-linejoin="round" />
</svg>`;

const cross = html`<svg
  class="sign bad"
  viewBox="0 0 72 72"
  fill="none"
  stroke="currentColor"
  aria-hidden="true"
>
  <circle cx="36" cy="36" r="33" stroke-width="3" />
  <path d="m26 26 20 20m0-20-20 20" stroke-width="4.5" stroke-linecap="round" />
</svg>`;

const clock = html`<svg class="sign" viewBox="0 0 72 72" fill="none" stroke="currentColor" aria-hidden="true">
  <circle cx="36" cy="36" r="33" stroke-width="3" />
  <path d="M36 18v19l12 8" stroke-width="4.5" stroke-linecap="round" stroke-linejoin="round" />
</svg>`;
