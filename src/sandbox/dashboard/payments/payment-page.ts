import { type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { type SandboxPayment } from "../../state/payments.js";
import { formatAmount } from "../../../pages/format/amount.js";
import { moment } from "../../../pages/format/moment.js";
import { type Page } from "../../page.js";
import { doneIn } from "../done.js";
import { framed, places } from "../frame.js";
import { paymentsWords } from "./payments-words.js";
import { chosen, copyable, fact } from "../pieces.js";
import { deliveryRow, statusPill } from "../rows.js";
import { type View } from "../view.js";

/** One payment: all that the sandbox knows of it, its webhooks, and what can be done with it. */
export function paymentPage(payment: SandboxPayment, sandbox: Sandbox, view: View): Page {
  const { language, root } = view;
  const words = paymentsWords[language];
  const { id, status, total } = payment;
  const amount = `${formatAmount(total.value, total.currency, language)} ${total.currency}`;
  return framed(view, {
    place: "payments",
    title: `${words.payment} ${amount}`,
    path: `${places.payments}/${id}`,
    done: doneIn(words.done, view),
    head: html`<a class="back" href="${root}${places.payments}">← ${words.title}</a>
      <div class="title">
        <h1><span class="hidden">${words.payment}</span> ${amount}</h1>
        <span id="status" data-live="${status}">${statusPill(status)}</span>
      </div>`,
    content: [moves(payment, sandbox, view), facts(payment, view), webhooks(payment, sandbox, view)],
  });
}

function moves(payment: SandboxPayment, sandbox: Sandbox, view: View): Html {
  const words = paymentsWords[view.language];
  const isPending = payment.status === "pending";
  const action = `${view.root}${places.payments}/${payment.id}`;
  return html`<section aria-labelledby="moves">
    <div class="head"><h2 id="moves">${words.moves}</h2></div>
    <div id="moves-list" data-live="${words.names.status} ${payment.status}">
      ${
        payment.status === "completed"
          ? html`<div class="panel"><p class="empty">${words.complete}</p></div>`
          : html`<div class="panel">
              <div class="fields">
                <p class="hint">${isPending ? words.movesLead : words.payAnyway}</p>
                <form class="inline" method="post" action="${action}/pay">
                  <div class="field">
                    <label for="provider">${words.provider}</label>
                    <select id="provider" name="provider">
                      ${sandbox.providers.map(
                        ({ code, name }) =>
                          html`<option value="${code}" ${chosen(view.typed?.text("provider") === code)}>
                            ${name} (${code})
                          </option>`,
                      )}
                    </select>
                  </div>
                  <button class="button main">${words.pay}</button>
                </form>
                ${
                  isPending &&
                  html`<div class="buttons">
                    <a class="button" href="${view.root}/payment/submit/${payment.id}">${words.checkout}</a>
                    <form method="post" action="${action}/cancel">
                      <button class="button grave">${words.cancel}</button>
                    </form>
                    <form method="post" action="${action}/fail">
                      <button class="button grave">${words.fail}</button>
                    </form>
                  </div>`
                }
              </div>
              ${scenarioForm(payment, sandbox, view, action)}
            </div>`
      }
    </div>
  </section>`;
}

function scenarioForm(payment: SandboxPayment, sandbox: Sandbox, view: View, action: string): Html {
  const words = paymentsWords[view.language];
  return html`<form class="inline" method="post" action="${action}/scenario">
    <div class="field">
      <label for="scenario">${words.scenario}</label>
      <p class="hint" id="scenario-hint">${words.scenarioHint}</p>
      <select id="scenario" name="scenario" aria-describedby="scenario-hint">
        ${sandbox.scenarios.map(
          ({ name }) => html`<option value="${name}" ${chosen(name === payment.scenario)}>${name}</option>`,
        )}
      </select>
    </div>
    <button class="button">${words.choose} <span class="hidden">${words.scenario}</span></button>
  </form>`;
}

function facts(payment: SandboxPayment, view: View): Html {
  const { language, baseUrl } = view;
  const words = paymentsWords[language];
  const { names } = words;
  const absent = html`<span class="empty">${words.absent}</span>`;
  const code = (text: string | undefined) => (text === undefined ? absent : html`<code>${text}</code>`);
  const { total, submittedAt } = payment;
  return html`<section aria-labelledby="facts">
    <div class="head"><h2 id="facts">${words.facts}</h2></div>
    <dl class="panel facts" id="facts-list" data-live="">
      ${copyable(view, { id: "payment-id", name: names.id, value: payment.id })}
      ${copyable(view, { id: "client-id", name: names.clientId, value: payment.clientId })}
      ${fact(names.status, html`<code>${payment.status}</code>`)}
      ${fact(names.captured, payment.captured ? words.yes : words.no)}
      ${fact(names.amount, html`<code>${total.value} ${total.currency}</code>`)}
      ${fact(names.scenario, html`<code>${payment.scenario}</code>`)}
      ${fact(names.createdAt, moment(payment.createdAt, language))}
      ${fact(names.submittedAt, submittedAt === undefined ? absent : moment(submittedAt, language))}
      ${fact(names.providerId, code(payment.providerId))} ${fact(names.source, code(payment.source))}
      ${fact(names.checkout, code(`${baseUrl}/payment/submit/${payment.id}`))}
      ${fact(names.successUrl, code(payment.successUrl))} ${fact(names.cancelUrl, code(payment.cancelUrl))}
    </dl>
  </section>`;
}

function webhooks({ id }: SandboxPayment, sandbox: Sandbox, view: View): Html {
  const words = paymentsWords[view.language];
  const own = sandbox.deliveries.filter(({ paymentId }) => paymentId === id).toReversed();
  return html`<section aria-labelledby="webhooks">
    <div class="head"><h2 id="webhooks">${words.webhooks}</h2></div>
    <div id="webhooks-list" data-live="${words.webhooksLive(own.length)}">
      ${
        sandbox.webhooksHeld &&
        html`<p class="told note">
          ${words.held} <a href="${view.root}${places.webhooks}#hold">${words.toHold}</a>
        </p>`
      }
      <ul class="panel">
        ${own.map((delivery) => deliveryRow(delivery, view))}
        ${
          own.length === 0 &&
          html`<li class="empty">
            <strong>${words.noWebhooks}</strong>
            ${
              sandbox.webhookAddresses.length === 0 &&
              html`${words.noAddress} <a href="${view.root}${places.webhooks}">${words.addAddress}</a>`
            }
          </li>`
        }
      </ul>
    </div>
  </section>`;
}
