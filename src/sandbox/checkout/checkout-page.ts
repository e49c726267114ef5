import { formatAmount } from "../../pages/format.js";
import { type Html, html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { type SandboxProvider } from "../options/options.js";
import { type Page } from "../http/page.js";
import { type SandboxPayment } from "../state/payments.js";
import { checkoutTranslations } from "./translations.js";

/** Returns the page, without a script, where the customer chooses a provider, and approves or cancels. */
export function checkoutPage(
  payment: SandboxPayment,
  providers: readonly SandboxProvider[],
  merchantName: string,
  { language, unchosen = false }: { language: Language; unchosen?: boolean },
): Page {
  const text = checkoutTranslations[language];
  const amount = formatAmount(payment.total, language);
  return {
    language,
    title: `${text.payTo} ${merchantName}`,
    status: unchosen ? 400 : 200,
    style: checkoutStyle,
    main: html`<main class="checkout">
      <div class="payee">
        <span class="initial" aria-hidden="true">${initial(merchantName)}</span>
        <h1><small>${text.payTo}</small> ${merchantName}</h1>
      </div>
      <p class="amount">
        <strong class="${amount.length > 12 && "long"}">${amount}</strong>
        <span>${payment.total.currency}</span>
      </p>
      <form method="post" novalidate>
        <fieldset>
          <legend>${text.chooseProvider}</legend>
          <div class="providers">
            ${providers.map((provider) => providerChoice(provider, providers.length))}
          </div>
        </fieldset>
        ${unchosen && html`<p class="notice bad" role="alert">${text.chooseFirst}</p>`}
        <div class="actions">
          <button class="button main" name="action" value="approve">
            ${text.pay(`${amount}\u00a0${payment.total.currency}`)}
          </button>
          <button class="button plain" name="action" value="cancel">${text.cancel}</button>
        </div>
      </form>
      <p class="reference">${text.payment} <code>${payment.id}</code></p>
    </main>`,
  };
}

/** Returns one provider as a radio button. A single provider is chosen beforehand. */
function providerChoice({ code, name }: SandboxProvider, choices: number): Html {
  return html`<label class="provider">
    <input type="radio" name="provider" value="${code}" ${choices === 1 && html`checked`} />
    <span class="initial" aria-hidden="true">${initial(name)}</span> <span class="name">${name}</span>
  </label>`;
}

function initial(name: string): string {
  return /./u.exec(name.trim())?.[0].toUpperCase() ?? "";
}

/** The style of the checkout page. On a phone, the page has no frame, and its buttons are at the bottom. */
const checkoutStyle = `
.checkout, .checkout form { flex: 1; display: flex; flex-direction: column; }
.checkout { width: 100%; max-width: 28rem; margin: 0 auto; padding: 1.75rem 1.25rem 1.5rem; }
.payee { display: flex; align-items: center; gap: 0.75rem; }
.payee h1 { font-size: 1.125rem; line-height: 1.3; font-weight: 600; letter-spacing: 0; }
.payee small { display: block; color: var(--soft); font-size: 0.875rem; font-weight: 400; }
.initial {
  flex: none; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; border-radius: 0.875rem;
  background: var(--accent); color: var(--on-accent); font-size: 1.125rem; font-weight: 650;
}
.amount { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.5rem; margin: 1.5rem 0 1.75rem; }
.amount strong {
  font-size: clamp(2.25rem, 12vw, 3.25rem); line-height: 1.1; font-weight: 650; letter-spacing: -0.025em;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.amount .long { font-size: 1.5rem; letter-spacing: 0; }
.amount span { color: var(--soft); font-size: 1.25rem; font-weight: 550; }
legend { margin-bottom: 0.75rem; font-weight: 600; }
.providers { display: grid; gap: 0.625rem; }
.provider {
  display: flex; align-items: center; gap: 0.875rem; min-height: 4.25rem; padding: 0.75rem 1rem; border-radius: 1rem;
  background: var(--card); box-shadow: inset 0 0 0 1px var(--edge); cursor: pointer;
}
.provider:hover { background: var(--tint); }
.provider:has(:checked) { background: var(--tint); box-shadow: inset 0 0 0 2px var(--accent); }
.provider:has(:focus-visible) { outline: 3px solid var(--focus); outline-offset: 3px; }
.provider input { flex: none; width: 1.375rem; height: 1.375rem; margin: 0; accent-color: var(--accent); }
.provider .initial { background: #3b4a9c; color: #fff; }
.provider:nth-of-type(3n + 2) .initial { background: #a2421c; }
.provider:nth-of-type(3n + 3) .initial { background: #73397f; }
.provider .name { flex: 1; font-weight: 550; overflow-wrap: anywhere; }
.checkout .notice { margin-top: 1rem; }
.checkout .actions { margin-top: auto; padding-top: 1.75rem; }
@media (min-width: 40rem) {
  .checkout {
    flex: none; margin: auto; padding: 2.25rem; border-radius: 1.5rem; background: var(--card); box-shadow: var(--shadow);
  }
}
`;
