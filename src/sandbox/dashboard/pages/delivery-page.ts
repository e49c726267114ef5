import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { type Page } from "../../http/page.js";
import { readJson } from "../../../shared/read-json.js";
import { suggestedRefusedDirectory, verifyLast } from "../../../shared/refused-files.js";
import { type Delivery } from "../../state/delivery.js";
import { code, copyable, link, namedValue, section, urlText } from "../frame/components.js";
import { button, postForm } from "../frame/form.js";
import { type Params, type View } from "../frame/page-routes.js";
import { dashboardPage, places, unknownDashboardPage } from "../frame/dashboard-page.js";
import { milliseconds, moment } from "../frame/format.js";
import { answerBadge, topicOf } from "../frame/lists.js";

/** Returns the page of one delivery: the request, the response, and a button that repeats the request. */
export function deliveryPage(view: View, { id = "" }: Params): Page {
  const delivery = view.sandbox.deliveries.find((each) => each.id === id);
  if (delivery === undefined) return unknownDashboardPage(view, "webhooks");
  const path = `${places.webhooks}/deliveries/${id}`;
  const again = [
    button("Send again", { kind: "main" }),
    html`<p class="hint">The same bytes, signature and address.</p>`,
  ];
  return dashboardPage(view, {
    place: "webhooks",
    path,
    title: topicOf(delivery) ?? "Webhook without a topic",
    back: { path: `${places.webhooks}#deliveries`, text: "Webhooks" },
    badge: answerBadge(delivery),
    done: { again: "Sent once more. This is the new delivery." },
    content: [
      postForm(view, `${path}/again`, again, "buttons"),
      facts(delivery, view),
      [400, 401].includes(delivery.status ?? 0) && refusalSection(),
      requestSection(delivery),
      responseSection(delivery),
    ],
  });
}

function facts(delivery: Delivery, view: View): Html {
  const { id, url, at, durationMs, attempt, paymentId, scenario } = delivery;
  const payment = link(view, `${places.payments}/${paymentId}`, code(paymentId));
  const content = html`<dl class="panel facts">
    ${namedValue("Address", urlText(url))} ${namedValue("Sent", moment(at))}
    ${namedValue("Answered after", milliseconds(durationMs))} ${namedValue("Attempt", attempt)}
    ${namedValue("Payment", paymentId === undefined ? "none: the address was tried" : payment)}
    ${scenario !== undefined && namedValue("Scenario", code(scenario))} ${copyable("delivery-id", "Id", id)}
  </dl>`;
  return section({ id: "facts", title: "Delivery" }, content);
}

/** Returns the section with a command that explains why the kit refused the webhook. */
function refusalSection(): Html {
  const content = html`<div class="panel">
    <dl class="panel-part facts">${copyable("verify", "In the shop’s folder", verifyLast())}</dl>
    <p class="hint">
      It names the mistake, where the shop runs tillkit and keeps what it refuses: start the shop with
      ${code(`TILLKIT_KEEP_REFUSED=${suggestedRefusedDirectory}`)}, and press “Send again”.
    </p>
  </div>`;
  return section({ id: "refusal", title: "Why it was refused" }, content);
}

function requestSection({ headers, requestBody }: Delivery): Html {
  const parsed = readJson(requestBody);
  const unreadable = html`<p class="hint">This body cannot be read as JSON; it is shown as it was sent.</p>
    <pre>${requestBody}</pre>`;
  const readable = html`<pre>${JSON.stringify(parsed, undefined, 2)}</pre>
    <details>
      <summary>As it was sent</summary>
      <pre>${requestBody}</pre>
    </details>`;
  const body = exchange(headers, parsed === undefined ? unreadable : readable);
  return section({ id: "request", title: "Request" }, html`<div class="panel">${body}</div>`);
}

function responseSection(delivery: Delivery): Html {
  const { status, error, responseHeaders, responseBody = "" } = delivery;
  const none = html`<p class="empty"><strong>There was no answer</strong> ${error}</p>`;
  const body = responseBody === "" ? html`<p class="empty">empty</p>` : html`<pre>${responseBody}</pre>`;
  const answer = html`<dl class="panel-part facts">${namedValue("Status", code(status))}</dl>
    ${exchange(responseHeaders ?? {}, body)}`;
  const content = html`<div class="panel">${status === undefined ? none : answer}</div>`;
  return section({ id: "response", title: "Response" }, content);
}

/** Returns the headers and the body of a request or of a response. */
function exchange(headers: Delivery["headers"], body: HtmlFragment): Html {
  return html`<div>
      <h3>Headers</h3>
      <dl class="facts">
        ${Object.entries(headers).map(([name, value]) => namedValue(code(name), code(value)))}
      </dl>
    </div>
    <div>
      <h3>Body</h3>
      ${body}
    </div>`;
}
