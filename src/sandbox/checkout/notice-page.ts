import { formatAmount } from "../../pages/format.js";
import { type Fragment, type Html, html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { sign } from "../../pages/sign.js";
import { type Page } from "../page.js";
import { type SandboxPayment } from "../state/payments.js";
import { checkoutTranslations } from "./translations.js";

type Notice = keyof (typeof checkoutTranslations)["en"]["notices"];

const signs: Readonly<Record<Notice, Html>> = {
  completed: sign("tick", "good"),
  canceled: sign("cross", "bad"),
  failed: sign("cross", "bad"),
  underWay: sign("clock", "info"),
  unknown: sign("search"),
  unreadable: sign("alert", "bad"),
};

/** Tells the customer that there is nothing left to decide, and leads back to the shop. */
export function finalPage(payment: SandboxPayment, merchantName: string, language: Language): Page {
  const text = checkoutTranslations[language];
  const { status, total, id, cancelUrl, successUrl } = payment;
  const isOver = status === "canceled" || status === "failed";
  const notice = isOver || status === "completed" ? status : "underWay";
  return noticePage(
    notice,
    language,
    html`<dl>
        <div>
          <dt>${text.amount}</dt>
          <dd>${formatAmount(total, language)} ${total.currency}</dd>
        </div>
      </dl>
      <div class="actions">
        <a class="button main" href="${isOver ? cancelUrl : successUrl}">${text.back} ${merchantName}</a>
      </div>
      <p class="reference">${text.payment} <code>${id}</code></p>`,
  );
}

/** The page for an address with no payment, or with no page at all. */
export function unknownPage(language: Language): Page {
  return { ...noticePage("unknown", language), status: 404 };
}

/** The page for a request that no form of this sandbox sends. */
export function badRequestPage(language: Language, status = 400): Page {
  return { ...noticePage("unreadable", language), status };
}

function noticePage(notice: Notice, language: Language, more?: Fragment): Page {
  const { title, message } = checkoutTranslations[language].notices[notice];
  return {
    language,
    title,
    style: "",
    main: html`<div class="centre">
      <main class="sheet card">
        ${signs[notice]}
        <h1>${title}</h1>
        <p>${message}</p>
        ${more}
      </main>
    </div>`,
  };
}
