import { html } from "../../pages/html.js";
import { type SandboxProvider } from "../options.js";
import { type SandboxPayment } from "../state/payments.js";
import { formatAmount } from "../../pages/format/amount.js";
import { type Language } from "../../pages/language.js";
import { type Page } from "../page.js";
import { checkoutStyle } from "./style/checkout-style.js";
import { wordings } from "./words.js";

/** Where the customer chooses a provider, and approves or cancels. A plain form: it needs no script. */
export function checkoutPage(
  payment: SandboxPayment,
  providers: readonly SandboxProvider[],
  merchantName: string,
  { language, unchosen = false }: { language: Language; unchosen?: boolean },
): Page {
  const words = wordings[language];
  const amount = formatAmount(payment.total.value, payment.total.currency, language);
  return {
    language,
    title: `${words.payTo} ${merchantName}`,
    style: checkoutStyle,
    main: html`<main class="checkout">
      <div class="payee">
        <span class="mark" aria-hidden="true">${initial(merchantName)}</span>
        <h1><small>${words.payTo}</small> ${merchantName}</h1>
      </div>
      <p class="amount">
        <strong class="${amount.length > 12 && "long"}">${amount}</strong>
        <span>${payment.total.currency}</span>
      </p>
      <form method="post">
        <fieldset class="choice">
          <legend>${words.chooseProvider}</legend>
          <div class="providers">
            ${providers.map((provider) => providerCard(provider, providers.length === 1))}
          </div>
        </fieldset>
        ${unchosen && html`<p class="error" role="alert">${words.chooseFirst}</p>`}
        <div class="actions">
          <button class="button main" name="action" value="approve">${words.approve}</button>
          <button class="button" name="action" value="cancel" formnovalidate>${words.cancel}</button>
        </div>
      </form>
      <p class="number">${words.payment} <code>${payment.id}</code></p>
    </main>`,
  };
}

function providerCard({ code, name }: SandboxProvider, chosen: boolean) {
  const radio = chosen
    ? html`<input type="radio" name="provider" value="${code}" required checked />`
    : html`<input type="radio" name="provider" value="${code}" required />`;
  return html`<label class="provider">
    ${radio}<span class="logo" aria-hidden="true">${initial(name)}</span> <span class="name">${name}</span>
    <code>${code}</code>
  </label>`;
}

function initial(name: string): string {
  return /./u.exec(name.trim())?.[0].toUpperCase() ?? "";
}
