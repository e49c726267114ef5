import { formatAmount, milliseconds, moment } from "../../pages/format.js";
import { type Fragment, type Html, html } from "../../pages/html.js";
import { type Language } from "../../pages/language.js";
import { type Scenario } from "../scenario/scenario.js";
import { type SandboxPayment } from "../state/payments.js";
import { type Delivery, isAccepted } from "../webhook/delivery.js";
import { type View } from "./context.js";
import { places } from "./dashboard-page.js";

/** A part of a page under a heading of its own; `action` stands beside the heading. */
export function section(
  { id, title, lead, action }: { id: string; title: string; lead?: string; action?: Fragment },
  content: Fragment,
): Html {
  return html`<section aria-labelledby="${id}">
    <div class="head">
      <h2 id="${id}">${title}</h2>
      ${action}
    </div>
    ${lead !== undefined && html`<p class="lead">${lead}</p>`} ${content}
  </section>`;
}

export function code(value: Fragment): Html {
  return html`<code>${value}</code>`;
}

export function link({ root }: View, path: string, text: Fragment): Html {
  return html`<a href="${root}${path}">${text}</a>`;
}

/** A button that sends its form. `about` completes its name for people who do not see the page. */
export function button(
  text: Fragment,
  { kind = "", about, name, value }: { kind?: string; about?: Fragment; name?: string; value?: string } = {},
): Html {
  const field = name !== undefined && html`name="${name}" value="${value}"`;
  return html`<button class="button ${kind}" ${field}>
    ${text} ${about !== undefined && html`<span class="hidden">${about}</span>`}
  </button>`;
}

/** A form that is sent to a path of the sandbox. */
export function postForm({ root }: View, path: string, content: Fragment, className = ""): Html {
  return html`<form class="${className}" method="post" action="${root}${path}">${content}</form>`;
}

/** One named value of a list of facts. */
export function fact(name: Fragment, value: Fragment): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** One named value, with a button that copies it where the browser can copy. */
export function copyable(view: View, id: string, name: string, value: string): Html {
  return copyableFact(view, id, name, html`<code id="${id}">${value}</code>`);
}

/** One named secret: shown after a click, and copied without being shown. */
export function secret(view: View, id: string, name: string, value: string): Html {
  const shown = html`<details>
    <summary>${view.shared.show} <span class="hidden">${name}</span></summary>
    <code id="${id}">${value}</code>
  </details>`;
  return copyableFact(view, id, name, shown);
}

function copyableFact(view: View, id: string, name: string, shown: Html): Html {
  return html`<div class="centred">
    <dt>${name}</dt>
    <dd class="value">${shown} ${copyButton(view, id, name)}</dd>
  </div>`;
}

/** A button that copies the text of the element with this id. */
export function copyButton({ shared: { copy, copied } }: View, id: string, name: string): Html {
  return html`<button type="button" class="button" data-copy="${id}" data-copied="${copied}">
    <span>${copy}</span> <span class="hidden">${name}</span>
  </button>`;
}

interface Field {
  /** The field's id, and its name in the form. */
  id: string;
  label: Fragment;
  hint?: Fragment;
}

/** A control under its label, and the hint that describes it. */
export function labelled({ id, label, hint }: Field, control: Html): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`} ${control}
  </div>`;
}

const describedBy = ({ id, hint }: Field) => hint && html`aria-describedby="${id}-hint"`;

/** A field of one line; `attributes` are further ones of its control. */
export function textField(field: Field, value: string | undefined, attributes?: Html): Html {
  const { id } = field;
  const more = html`${attributes} ${describedBy(field)}`;
  return labelled(field, html`<input id="${id}" name="${id}" autocomplete="off" ${more} value="${value}" />`);
}

/** A field that offers values, each with its text. */
export function selectField(field: Field, options: Iterable<readonly [string, string]>, chosen = ""): Html {
  const { id } = field;
  const choices = [...options].map(
    ([value, text]) => html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`,
  );
  return labelled(
    field,
    html`<select id="${id}" name="${id}" ${describedBy(field)}>
      ${choices}
    </select>`,
  );
}

/** A box that is ticked or not. */
export function checkbox({ id, label, hint }: Field, isTicked: boolean, name = id, value = "on"): Html {
  return html`<div class="check">
    <input type="checkbox" id="${id}" name="${name}" value="${value}" ${isTicked && html`checked`} />
    <label for="${id}">${label}</label>
    ${hint && html`<span class="hint">${hint}</span>`}
  </div>`;
}

interface LiveList {
  id: string;
  /** Said to people who listen, when it changes. */
  live: string;
  /** Shown in place of the items, where there are none. */
  empty: Fragment;
  before?: Fragment;
  after?: Fragment;
}

/** A list that changes as things happen, where scripts run. */
export function liveList({ id, live, empty, before, after }: LiveList, items: readonly Html[]): Html {
  return html`<div id="${id}" data-live="${live}">
    ${before}
    <ul class="panel">
      ${items.length === 0 ? html`<li class="empty">${empty}</li>` : items}
    </ul>
    ${after}
  </div>`;
}

/** Returns the part of a list that the query asks for, newest first, its path, and links to the newer and the older part. */
export function listPage<T>({ query, root, shared }: View, listPath: string, oldestFirst: readonly T[]) {
  const perPage = 25;
  const last = Math.max(1, Math.ceil(oldestFirst.length / perPage));
  const asked = /^\d{1,6}$/.test(query["page"] ?? "") ? Number(query["page"]) : 1;
  const number = Math.min(Math.max(asked, 1), last);
  const end = oldestFirst.length - (number - 1) * perPage;
  const items = oldestFirst.slice(Math.max(end - perPage, 0), end).toReversed();
  const to = (page: number, rel: string, text: string): Html =>
    html`<a href="${root}${listPath}?page=${page}" rel="${rel}">${text}</a>`;
  const links = html`<nav class="pages" aria-label="${shared.pages}">
    <span>${number > 1 && to(number - 1, "prev", `← ${shared.newer}`)}</span>
    <span>${shared.page(number, last)}</span>
    <span>${number < last && to(number + 1, "next", `${shared.older} →`)}</span>
  </nav>`;
  return { items, path: number > 1 ? `${listPath}?page=${number}` : listPath, links: last > 1 && links };
}

type ListOptions = Partial<LiveList> & { id: string };

/** A list of payments; each row leads to the payment's page. */
export function paymentList(view: View, list: ListOptions, payments: readonly SandboxPayment[]): Html {
  const { language, sandbox, shared } = view;
  const credentials = link(view, places.developer, shared.seeCredentials);
  const empty = html`<strong>${shared.noPayments}</strong> ${shared.noPaymentsText} ${credentials}`;
  const items = payments.map(({ status, total, clientId, id, createdAt, scenario }) => {
    const title = `${formatAmount(total, language)} ${total.currency}`;
    const own = scenario !== "normal" && html`· ${code(scenario)}`;
    const more = html`${code(clientId)} · ${moment(createdAt, language)} ${own}`;
    return linkedRow(`${view.root}${places.payments}/${id}`, title, statusBadge(status), [more]);
  });
  return liveList({ live: shared.paymentsLive(sandbox.payments().length), empty, ...list }, items);
}

/** A list of deliveries; each row leads to the delivery's page. */
export function deliveryList(view: View, list: ListOptions, deliveries: readonly Delivery[]): Html {
  const { language, sandbox, shared } = view;
  const empty = html`<strong>${shared.noDeliveries}</strong> ${shared.noDeliveriesText}`;
  const items = deliveries.map((delivery) => {
    const { id, url, attempt, durationMs, at, scenario, error } = delivery;
    const own = scenario !== undefined && html`· ${code(scenario)}`;
    const when = html`${moment(at, language)} · ${shared.attempt(attempt)} ·
    ${milliseconds(durationMs, language)}`;
    const problem = error !== undefined && html`<br /><span lang="en">${error}</span>`;
    const href = `${view.root}${places.webhooks}/deliveries/${id}`;
    const title = topicOf(delivery) ?? shared.noTopic;
    return linkedRow(href, title, answerBadge(delivery, view), [code(url), html`${when} ${own} ${problem}`]);
  });
  return liveList({ live: shared.deliveriesLive(sandbox.deliveries.length), empty, ...list }, items);
}

function linkedRow(href: string, title: string, badge: Html, lines: readonly Html[]): Html {
  return html`<li class="row">
    <a class="what" href="${href}">${title}</a>
    ${badge} ${lines.map((line) => html`<span class="more">${line}</span>`)}
  </li>`;
}

/** A payment's status, which has the name of the interface in every language. */
export function statusBadge(status: string): Html {
  const isBad = status === "canceled" || status === "failed";
  const tone = status === "completed" ? "good" : isBad && "bad";
  return html`<span class="badge ${tone}" lang="en">${status}</span>`;
}

/** The status of the merchant's answer. */
export function answerBadge(delivery: Delivery, { shared }: View): Html {
  const tone = isAccepted(delivery) ? "good" : "bad";
  return html`<span class="badge ${tone}">${delivery.status ?? shared.noAnswer}</span>`;
}

/** Returns the topic of a delivery, where its body has one. */
export function topicOf({ requestBody }: Delivery): string | undefined {
  try {
    const body: unknown = JSON.parse(requestBody);
    if (typeof body !== "object" || body === null || !("topic" in body)) return undefined;
    return typeof body.topic === "string" && body.topic.trim() !== "" ? body.topic : undefined;
  } catch {
    return undefined;
  }
}

/** What a scenario shows. A description in another language than the page's says that its language is not known. */
export function aboutIn(language: Language, scenario: Scenario | undefined): Html | undefined {
  const { about, about_fr: french } = scenario ?? {};
  const own = language === "fr" ? french : about;
  if (own !== undefined) return html`<span>${own}</span>`;
  return about === undefined ? undefined : html`<span lang="">${about}</span>`;
}
