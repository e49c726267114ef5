import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { type Page } from "../../http/page.js";
import { code, copyable, link, namedValue, section, timeAhead, urlText } from "../frame/components.js";
import { type View } from "../frame/page-routes.js";
import { dashboardPage, places } from "../frame/dashboard-page.js";
import { timeOfDay } from "../frame/format.js";
import { deliveryList, paymentList, refusalList } from "../frame/lists.js";

const maxItems = 6;

/** Returns the front page: the state of the sandbox, its addresses, the last payments and deliveries. */
export function overviewPage(view: View): Page {
  const { sandbox } = view;
  const lasts =
    sandbox.state === undefined
      ? "It keeps everything in memory and forgets it when it stops."
      : html`It keeps everything in the file ${code(sandbox.state)}.`;
  const cards = html`<div class="cards">${scenarioCard(view)} ${webhooksCard(view)} ${timeCard(view)}</div>`;
  return dashboardPage(view, {
    place: "overview",
    title: "Overview",
    lead: html`An emulated payment service. Your shop uses it like the real one, and no money moves. ${lasts}`,
    content: [
      section({ id: "now", title: "Right now" }, cards),
      addressFacts(view),
      recentPayments(view),
      recentDeliveries(view),
      section({ id: "refusals", title: "Refused requests" }, refusalList(view)),
    ],
  });
}

function scenarioCard(view: View): Html {
  const { currentScenario, scenarios } = view.sandbox;
  const scenario = scenarios.find(({ name }) => name === currentScenario);
  const action = link(view, places.scenarios, "Choose another", "button");
  return stateCard("Scenario", currentScenario, scenario?.about, action);
}

function webhooksCard(view: View): Html {
  const [state, about, order] = view.sandbox.webhooksHeld
    ? ["Held back", "They wait until you release them.", "Release"]
    : ["Sent", "When payments change.", "Hold back"];
  return stateCard("Webhooks", state, about, link(view, `${places.webhooks}#hold`, order, "button"));
}

function timeCard(view: View): Html {
  const now = view.sandbox.clock.now();
  const action = link(view, `${places.behaviour}#clock`, "Put forward", "button");
  return stateCard("Time", timeOfDay(now), timeAhead(now), action);
}

function stateCard(name: string, state: HtmlFragment, about: HtmlFragment, action: Html): Html {
  return html`<div class="card state">
    <p class="hint">${name}</p>
    <p class="what">${state}</p>
    <p class="hint">${about}</p>
    <div class="foot">${action}</div>
  </div>`;
}

function addressFacts(view: View): Html {
  const { baseUrl, sandbox } = view;
  const urls = sandbox.webhookAddresses.map(({ url }) => html`<div>${urlText(url)}</div>`);
  const none = html`No address: no webhook is sent. ${link(view, places.webhooks, "Add one")}`;
  const content = html`<dl class="panel facts">
    ${copyable("base-url", "Base address", baseUrl)}
    ${copyable("token-url", "Access tokens", `${baseUrl}/oauth/token`)}
    ${namedValue("Webhooks go to", urls.length === 0 ? none : urls)}
  </dl>`;
  return section({ id: "addresses", title: "Addresses" }, content);
}

function recentPayments(view: View): Html {
  const all = view.sandbox.payments();
  const action = all.length > 0 && link(view, places.payments, `All payments (${all.length})`);
  const list = paymentList(view, { id: "payments-list" }, all.slice(-maxItems).toReversed());
  return section({ id: "payments", title: "Recent payments", action }, list);
}

function recentDeliveries(view: View): Html {
  const all = view.sandbox.deliveries;
  const path = `${places.webhooks}#deliveries`;
  const action = all.length > 0 && link(view, path, `All deliveries (${all.length})`);
  const list = deliveryList(view, { id: "deliveries-list" }, all.slice(-maxItems).toReversed());
  return section({ id: "deliveries", title: "Recent webhooks", action }, list);
}
