import { formatAmount } from "../../pages/format.js";
import { type HtmlFragment, type Html, html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { statusSign } from "../../pages/page.js";
import { type Page } from "../http/page.js";
import { type SandboxPayment } from "../state/payments.js";
import { checkoutTranslations } from "./translations.js";

type Notice = keyof (typeof checkoutTranslations)["en"]["notices"];

/** Returns the page of a payment that is no longer pending, with a link back to the shop. */
export function finalPage(payment: SandboxPayment, merchantName: string, language: Language): Page {
  const text = checkoutTranslations[language];
  const { status, total, id, cancelUrl, successUrl } = payment;
  const isOver = status === "canceled" || status === "failed";
  const more = html`<p class="total">${formatAmount(total, language)} ${total.currency}</p>
    <div class="actions">
      <a class="button main" href="${isOver ? cancelUrl : successUrl}">${text.back} ${merchantName}</a>
    </div>
    <p class="reference">${text.payment} <code>${id}</code></p>`;
  if (isOver) return noticePage(status, statusSign("cross", "bad"), language, more);
  if (status === "completed") return noticePage(status, statusSign("tick", "good"), language, more);
  return noticePage("underWay", statusSign("clock", "info"), language, more);
}

/** Returns the page for an unknown payment or address, with a link to the sandbox's dashboard. */
export function unknownPage(language: Language, home = ""): Page {
  const link = html`<a class="button" href="${home}/">${checkoutTranslations[language].home}</a>`;
  const more = html`<p class="actions">${link}</p>`;
  return { ...noticePage("unknown", statusSign("search"), language, more), status: 404 };
}

/** Returns the page for a request that no form of this sandbox sends. */
export function badRequestPage(language: Language, status = 400): Page {
  return { ...noticePage("unreadable", statusSign("alert", "bad"), language), status };
}

function noticePage(notice: Notice, mark: Html, language: Language, more?: HtmlFragment): Page {
  const { title, message } = checkoutTranslations[language].notices[notice];
  return {
    language,
    title,
    style: "",
    main: html`<div class="centre">
      <main class="sheet card">
        ${mark}
        <h1>${title}</h1>
        <p>${message}</p>
        ${more}
      </main>
    </div>`,
  };
}
