import { moment } from "../../../pages/format.js";
import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import { aboutIn, timeAhead, button, code, copyable, fact, link, postForm, section } from "../components.js";
import { type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { deliveryList, paymentList, refusalList } from "../lists.js";
import { overviewTranslations } from "./translations.js";

type Overview = ViewWith<typeof overviewTranslations>;

const maxItems = 6;
const maxRefused = 25;

/** Returns the front page: the state of the sandbox, its addresses, the last payments and deliveries. */
export function overviewPage(given: View): Page {
  const view = withTranslations(given, overviewTranslations);
  const { sandbox, shared, text } = view;
  const lasts = sandbox.state === undefined ? text.forgets : html`${text.lasts} ${code(sandbox.state)}.`;
  const cards = html`<div class="cards">${scenarioCard(view)} ${webhooksCard(view)} ${timeCard(view)}</div>`;
  return dashboardPage(view, {
    place: "overview",
    title: text.title,
    done: { held: shared.held, released: shared.released },
    lead: html`${text.lead} ${lasts}`,
    content: [
      section({ id: "now", title: text.now }, cards),
      addresses(view),
      recentPayments(view),
      recentDeliveries(view),
      section({ id: "refusals", title: shared.refusals }, refusalList(view, maxRefused)),
    ],
  });
}

function scenarioCard(view: Overview): Html {
  const { currentScenario, scenarios } = view.sandbox;
  const scenario = scenarios.find(({ name }) => name === currentScenario);
  const name = html`<span lang="en">${currentScenario}</span>`;
  const action = link(view, places.scenarios, view.text.chooseScenario, "button");
  return stateCard(view.shared.scenario, name, aboutIn(view.language, scenario), action);
}

function webhooksCard(view: Overview): Html {
  const { sandbox, shared, text } = view;
  const order = sandbox.webhooksHeld ? "release" : "hold";
  const about = shared.places.webhooks;
  const press = button(shared[order], { kind: sandbox.webhooksHeld ? "main" : "", about });
  const from = html`<input type="hidden" name="from" value="overview" />`;
  const action = postForm(view, `${places.webhooks}/${order}`, [from, press]);
  return stateCard(about, sandbox.webhooksHeld ? text.held : text.flowing, undefined, action);
}

function timeCard(view: Overview): Html {
  const now = view.sandbox.clock.now();
  const action = link(view, `${places.behaviour}#clock`, view.text.changeTime, "button");
  return stateCard(view.text.time, moment(now, view.language), timeAhead(now, view), action);
}

function stateCard(name: string, state: HtmlFragment, about: HtmlFragment, action: Html): Html {
  return html`<div class="card state">
    <p class="hint">${name}</p>
    <p class="what">${state}</p>
    <p class="hint">${about}</p>
    <div class="foot">${action}</div>
  </div>`;
}

function addresses(view: Overview): Html {
  const { baseUrl, sandbox, shared, text } = view;
  const urls = sandbox.webhookAddresses.map(({ url }) => html`<div>${code(url)}</div>`);
  const none = html`${text.noAddress} ${link(view, places.webhooks, text.addAddress)}`;
  const content = html`<dl class="panel facts">
    ${copyable(view, "base-url", shared.baseUrl, baseUrl)}
    ${copyable(view, "token-url", text.tokenUrl, `${baseUrl}/oauth/token`)}
    ${fact(text.webhookUrls, urls.length === 0 ? none : urls)}
  </dl>`;
  return section({ id: "addresses", title: text.addresses }, content);
}

function recentPayments(view: Overview): Html {
  const all = view.sandbox.payments();
  const action = all.length > 0 && link(view, places.payments, view.text.allPayments(all.length));
  const list = paymentList(view, { id: "payments-list" }, all.slice(-maxItems).toReversed());
  return section({ id: "payments", title: view.text.payments, action }, list);
}

function recentDeliveries(view: Overview): Html {
  const all = view.sandbox.deliveries;
  const path = `${places.webhooks}#deliveries`;
  const action = all.length > 0 && link(view, path, view.text.allDeliveries(all.length));
  const list = deliveryList(view, { id: "deliveries-list" }, all.slice(-maxItems).toReversed());
  return section({ id: "deliveries", title: view.text.deliveries, action }, list);
}
