import { type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { moment, timeSpan } from "../../../pages/format/moment.js";
import { type Page } from "../../page.js";
import { doneIn } from "../done.js";
import { framed, places } from "../frame.js";
import { overviewWords } from "./overview-words.js";
import { aboutIn, copyable, fact } from "../pieces.js";
import { deliveryRow, paymentRow } from "../rows.js";
import { type View } from "../view.js";

const shown = 6;

/** The front page: how the sandbox stands, where it is reached, and what happened last. */
export function overviewPage(sandbox: Sandbox, view: View): Page {
  const words = overviewWords[view.language];
  return framed(view, {
    place: "overview",
    title: words.title,
    done: doneIn(words.done, view),
    head: html`<h1>${words.title}</h1>
      <p class="lead">
        ${words.lead}
        ${sandbox.state === undefined ? words.forgets : html`${words.lasts} <code>${sandbox.state}</code>.`}
      </p>`,
    content: html`<section aria-labelledby="now">
        <div class="head"><h2 id="now">${words.now}</h2></div>
        <div class="three">
          ${scenarioCard(sandbox, view)} ${holdCard(sandbox, view)} ${timeCard(sandbox, view)}
        </div>
      </section>
      ${addresses(sandbox, view)} ${payments(sandbox, view)} ${deliveries(sandbox, view)}`,
  });
}

function scenarioCard({ currentScenario, scenarios }: Sandbox, { language, root }: View): Html {
  const words = overviewWords[language];
  const scenario = scenarios.find(({ name }) => name === currentScenario);
  return html`<div class="card">
    <p class="label">${words.scenario}</p>
    <p class="state" lang="en">${currentScenario}</p>
    <p class="small">${aboutIn(language, scenario)}</p>
    <p class="foot"><a class="button" href="${root}${places.scenarios}">${words.chooseScenario}</a></p>
  </div>`;
}

function holdCard({ webhooksHeld }: Sandbox, { language, root }: View): Html {
  const words = overviewWords[language];
  const order = webhooksHeld ? "release" : "hold";
  return html`<div class="card">
    <p class="label">${words.webhooks}</p>
    <p class="state">${webhooksHeld ? words.held : words.flowing}</p>
    <form class="foot" method="post" action="${root}/developer/webhooks/${order}">
      <input type="hidden" name="from" value="overview" />
      <button class="button ${webhooksHeld && "main"}">
        ${words[order]} <span class="hidden">${words.webhooks}</span>
      </button>
    </form>
  </div>`;
}

function timeCard({ clock }: Sandbox, { language, root }: View): Html {
  const words = overviewWords[language];
  const now = clock.now();
  const aheadMs = now.getTime() - Date.now();
  return html`<div class="card">
    <p class="label">${words.time}</p>
    <p class="state">${moment(now, language)}</p>
    <p class="small">${aheadMs < 1000 ? words.withMachine : words.ahead(timeSpan(aheadMs, language))}</p>
    <p class="foot"><a class="button" href="${root}${places.behaviour}#clock">${words.changeTime}</a></p>
  </div>`;
}

function addresses(sandbox: Sandbox, view: View): Html {
  const words = overviewWords[view.language];
  const { baseUrl, root } = view;
  return html`<section aria-labelledby="addresses">
    <div class="head"><h2 id="addresses">${words.addresses}</h2></div>
    <dl class="panel facts">
      ${copyable(view, { id: "base-url", name: words.baseUrl, value: baseUrl })}
      ${copyable(view, { id: "token-url", name: words.tokenUrl, value: `${baseUrl}/oauth/token` })}
      ${fact(
        words.webhookUrls,
        sandbox.webhookAddresses.length === 0
          ? html`${words.noAddress} <a href="${root}${places.webhooks}">${words.addAddress}</a>`
          : sandbox.webhookAddresses.map(({ url }) => html`<div><code>${url}</code></div>`),
      )}
    </dl>
  </section>`;
}

function payments(sandbox: Sandbox, view: View): Html {
  const words = overviewWords[view.language];
  const all = sandbox.payments();
  return html`<section aria-labelledby="payments">
    <div class="head">
      <h2 id="payments">${words.payments}</h2>
      ${all.length > 0 && html`<a href="${view.root}${places.payments}">${words.allPayments(all.length)}</a>`}
    </div>
    <div id="payments-list" data-live="${words.paymentsLive(all.length)}">
      <ul class="panel">
        ${all
          .slice(-shown)
          .toReversed()
          .map((payment) => paymentRow(payment, view))}
        ${
          all.length === 0 &&
          html`<li class="empty">
            <strong>${words.noPayments}</strong> ${words.noPaymentsText}
            <a href="${view.root}${places.developer}">${words.credentials}</a>
          </li>`
        }
      </ul>
    </div>
  </section>`;
}

function deliveries(sandbox: Sandbox, view: View): Html {
  const words = overviewWords[view.language];
  const all = sandbox.deliveries;
  return html`<section aria-labelledby="deliveries">
    <div class="head">
      <h2 id="deliveries">${words.deliveries}</h2>
      ${
        all.length > 0 &&
        html`<a href="${view.root}${places.webhooks}#deliveries">${words.allDeliveries(all.length)}</a>`
      }
    </div>
    <div id="deliveries-list" data-live="${words.deliveriesLive(all.length)}">
      <ul class="panel">
        ${all
          .slice(-shown)
          .toReversed()
          .map((delivery) => deliveryRow(delivery, view))}
        ${
          all.length === 0 &&
          html`<li class="empty"><strong>${words.noDeliveries}</strong> ${words.noDeliveriesText}</li>`
        }
      </ul>
    </div>
  </section>`;
}
