import { html } from "../../../pages/html.js";
import { type SandboxPayment } from "../../state/payments.js";
import { type Page } from "../../page.js";
import { framed, places } from "../frame.js";
import { paymentsWords } from "./payments-words.js";
import { cut, pager } from "../pieces.js";
import { paymentRow } from "../rows.js";
import { type View } from "../view.js";

/** Every payment, newest first. */
export function paymentsPage(payments: readonly SandboxPayment[], view: View): Page {
  const words = paymentsWords[view.language];
  const part = cut(payments, view);
  return framed(view, {
    place: "payments",
    title: words.title,
    path: part.number > 1 ? `${places.payments}?page=${part.number}` : places.payments,
    head: html`<h1>${words.title}</h1>`,
    content: html`<div id="payments" data-live="${words.live(part.total)}">
      ${part.total > 0 && html`<p class="lead">${words.lead(part.total)}</p>`}
      <ul class="panel">
        ${part.shown.map((payment) => paymentRow(payment, view))}
        ${
          part.total === 0 &&
          html`<li class="empty">
            <strong>${words.none}</strong> ${words.noneText}
            <a href="${view.root}${places.developer}">${words.credentials}</a>
          </li>`
        }
      </ul>
      ${pager(view, places.payments, part)}
    </div>`,
  });
}
