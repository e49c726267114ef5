import { moment, timeSpan } from "../../../pages/format.js";
import { type Fragment, type Html, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import {
  aboutIn,
  button,
  code,
  copyable,
  deliveryList,
  fact,
  link,
  paymentList,
  postForm,
  section,
} from "../components.js";
import { type View, type ViewWith } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { overviewTranslations } from "./translations.js";

type Overview = ViewWith<typeof overviewTranslations>;

const maxItems = 6;

/** The front page: the state of the sandbox, its addresses, and what happened last. */
export function overviewPage(view: View): Page {
  const text = overviewTranslations[view.language];
  const { sandbox, shared } = view;
  const overview = { ...view, text };
  const lasts = sandbox.state === undefined ? text.forgets : html`${text.lasts} ${code(sandbox.state)}.`;
  const cards = [scenarioCard(overview), webhooksCard(overview), timeCard(overview)];
  return dashboardPage(view, {
    place: "overview",
    title: text.title,
    done: { held: shared.held, released: shared.released },
    lead: html`${text.lead} ${lasts}`,
    content: [
      section({ id: "now", title: text.now }, html`<div class="cards">${cards}</div>`),
      addresses(overview),
      recentPayments(overview),
      recentDeliveries(overview),
    ],
  });
}

function scenarioCard(view: Overview): Html {
  const { sandbox, language, root, shared, text } = view;
  const current = sandbox.currentScenario;
  const scenario = sandbox.scenarios.find(({ name }) => name === current);
  const action = html`<a class="button" href="${root}${places.scenarios}">${text.chooseScenario}</a>`;
  const name = html`<span lang="en">${current}</span>`;
  return stateCard(shared.scenario, name, aboutIn(language, scenario), action);
}

function webhooksCard(view: Overview): Html {
  const { sandbox, shared, text } = view;
  const isHeld = sandbox.webhooksHeld;
  const order = isHeld ? "release" : "hold";
  const about = shared.places.webhooks;
  const from = html`<input type="hidden" name="from" value="overview" />`;
  const press = button(shared[order], { kind: isHeld ? "main" : "", about });
  const action = postForm(view, `${places.webhooks}/${order}`, [from, press]);
  return stateCard(about, isHeld ? text.held : text.flowing, undefined, action);
}

function timeCard({ sandbox, language, root, shared, text }: Overview): Html {
  const now = sandbox.clock.now();
  const aheadMs = now.getTime() - Date.now();
  const about = aheadMs < 1000 ? shared.withMachine : shared.ahead(timeSpan(aheadMs, language));
  const action = html`<a class="button" href="${root}${places.behaviour}#clock">${text.changeTime}</a>`;
  return stateCard(text.time, moment(now, language), about, action);
}

function stateCard(name: string, state: Fragment, about: Fragment, action: Html): Html {
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
  return section(
    { id: "addresses", title: text.addresses },
    html`<dl class="panel facts">
      ${copyable(view, "base-url", shared.baseUrl, baseUrl)}
      ${copyable(view, "token-url", text.tokenUrl, `${baseUrl}/oauth/token`)}
      ${fact(text.webhookUrls, urls.length === 0 ? none : urls)}
    </dl>`,
  );
}

function recentPayments(view: Overview): Html {
  const { text } = view;
  const all = view.sandbox.payments();
  const action = all.length > 0 && link(view, places.payments, text.allPayments(all.length));
  const list = paymentList(view, { id: "payments-list" }, all.slice(-maxItems).toReversed());
  return section({ id: "payments", title: text.payments, action }, list);
}

function recentDeliveries(view: Overview): Html {
  const { text } = view;
  const all = view.sandbox.deliveries;
  const action =
    all.length > 0 && link(view, `${places.webhooks}#deliveries`, text.allDeliveries(all.length));
  const list = deliveryList(view, { id: "deliveries-list" }, all.slice(-maxItems).toReversed());
  return section({ id: "deliveries", title: text.deliveries, action }, list);
}
