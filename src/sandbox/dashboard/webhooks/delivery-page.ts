import { milliseconds, moment } from "../../../pages/format.js";
import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import { readJson } from "../../read-json.js";
import { type Delivery } from "../../webhook/delivery.js";
import { button, code, copyable, fact, link, postForm, section } from "../components.js";
import { type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, places, unknownDashboardPage } from "../dashboard-page.js";
import { type Params } from "../form.js";
import { answerBadge, topicOf } from "../lists.js";
import { deliveryTranslations } from "./translations.js";

type DeliveryView = ViewWith<typeof deliveryTranslations>;

/** Returns the page of one attempt to deliver one webhook: the request, the response, a button that sends it again. */
export function deliveryPage(given: View, { id = "" }: Params): Page {
  const view = withTranslations(given, deliveryTranslations);
  const { text } = view;
  const delivery = view.sandbox.deliveries.find((each) => each.id === id);
  if (delivery === undefined) return unknownDashboardPage(view, "webhooks");
  const path = `${places.webhooks}/deliveries/${id}`;
  const again = [button(text.again, { kind: "main" }), html`<p class="hint">${text.againHint}</p>`];
  return dashboardPage(view, {
    place: "webhooks",
    path,
    title: topicOf(delivery) ?? view.shared.noTopic,
    back: { path: `${places.webhooks}#deliveries`, text: view.shared.places.webhooks },
    badge: answerBadge(delivery, view),
    done: text.done,
    content: [
      postForm(view, `${path}/again`, again, "buttons"),
      facts(delivery, view),
      request(delivery, view),
      response(delivery, view),
    ],
  });
}

function facts(delivery: Delivery, view: DeliveryView): Html {
  const { id, url, at, durationMs, attempt, paymentId, scenario } = delivery;
  const { language, shared, text } = view;
  const { names } = text;
  const payment = link(view, `${places.payments}/${paymentId}`, code(paymentId));
  const content = html`<dl class="panel facts">
    ${fact(names.url, code(url))} ${fact(names.at, moment(at, language))}
    ${fact(names.duration, milliseconds(durationMs, language))} ${fact(names.attempt, attempt)}
    ${fact(names.payment, paymentId === undefined ? text.noPayment : payment)}
    ${scenario !== undefined && fact(shared.scenario, code(scenario))}
    ${copyable(view, "delivery-id", names.id, id)}
  </dl>`;
  return section({ id: "facts", title: text.facts }, content);
}

function request({ headers, requestBody }: Delivery, { text }: DeliveryView): Html {
  const parsed = readJson(requestBody);
  const unreadable = html`<p class="hint">${text.unreadable}</p>
    <pre>${requestBody}</pre>`;
  const readable = html`<pre>${JSON.stringify(parsed, undefined, 2)}</pre>
    <details>
      <summary>${text.raw}</summary>
      <pre>${requestBody}</pre>
    </details>`;
  const body = exchange(headers, parsed === undefined ? unreadable : readable, text);
  return section({ id: "request", title: text.request }, html`<div class="panel">${body}</div>`);
}

function response(delivery: Delivery, { text }: DeliveryView): Html {
  const { status, error, responseHeaders, responseBody = "" } = delivery;
  const reason = error !== undefined && html`<span lang="en">${error}</span>`;
  const none = html`<p class="empty"><strong>${text.noAnswer}</strong> ${reason}</p>`;
  const body =
    responseBody === "" ? html`<p class="empty">${text.empty}</p>` : html`<pre>${responseBody}</pre>`;
  const answer = html`<dl class="panel-part facts">${fact(text.status, code(status))}</dl>
    ${exchange(responseHeaders ?? {}, body, text)}`;
  const content = html`<div class="panel">${status === undefined ? none : answer}</div>`;
  return section({ id: "response", title: text.response }, content);
}

/** Returns the headers and the body of a request or of a response. */
function exchange(headers: Delivery["headers"], body: HtmlFragment, text: DeliveryView["text"]): Html {
  return html`<div>
      <h3>${text.headers}</h3>
      <dl class="facts">${Object.entries(headers).map(([name, value]) => fact(code(name), code(value)))}</dl>
    </div>
    <div>
      <h3>${text.body}</h3>
      ${body}
    </div>`;
}
