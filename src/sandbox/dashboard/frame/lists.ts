import { z } from "zod";
import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { readJson } from "../../../shared/read-json.js";
import { type SandboxPayment } from "../../state/payments.js";
import { type Delivery, isDelivered } from "../../state/delivery.js";
import { code, link, urlText } from "./components.js";
import { type View } from "./page-routes.js";
import { amountOf, milliseconds, moment } from "./format.js";
import { places } from "./dashboard-page.js";

interface LiveList {
  id: string;
  /** The text that a screen reader reads when the list changes. */
  live: string;
  /** The content that is shown if there are no items. */
  empty: HtmlFragment;
  before?: HtmlFragment;
  after?: HtmlFragment;
}

/** Returns a list that the script of the page keeps up to date. */
export function liveList({ id, live, empty, before, after }: LiveList, items: readonly Html[]): Html {
  return html`<div id="${id}" data-live="${live}">
    ${before}
    <ul class="panel">
      ${items.length === 0 ? html`<li class="empty">${empty}</li>` : items}
    </ul>
    ${after}
  </div>`;
}

/** Returns the requested page of a list, newest first, with its path and links to other pages. */
export function listPage<T>({ query, root }: View, listPath: string, oldestFirst: readonly T[]) {
  const perPage = 25;
  const last = Math.max(1, Math.ceil(oldestFirst.length / perPage));
  const asked = /^\d{1,6}$/.test(query["page"] ?? "") ? Number(query["page"]) : 1;
  const number = Math.min(Math.max(asked, 1), last);
  const end = oldestFirst.length - (number - 1) * perPage;
  const items = oldestFirst.slice(Math.max(end - perPage, 0), end).toReversed();
  const to = (page: number, rel: string, text: string): Html =>
    html`<a href="${root}${listPath}?page=${page}" rel="${rel}">${text}</a>`;
  const links = html`<nav class="pages" aria-label="Pages">
    <span>${number > 1 && to(number - 1, "prev", "← Newer")}</span>
    <span>Page ${number} of ${last}</span>
    <span>${number < last && to(number + 1, "next", "Older →")}</span>
  </nav>`;
  return { items, path: number > 1 ? `${listPath}?page=${number}` : listPath, links: last > 1 && links };
}

type ListOptions = Partial<LiveList> & { id: string };

/** Returns a list of payments; each row leads to the payment's page. */
export function paymentList(view: View, list: ListOptions, payments: readonly SandboxPayment[]): Html {
  const { sandbox } = view;
  const credentials = link(view, places.developer, "See the credentials");
  const empty = html`<strong>No payment yet</strong> Create one with POST /v1/payments. ${credentials}`;
  const items = payments.map(({ status, total, clientId, id, createdAt, scenario }) => {
    const title = amountOf(total);
    const own = scenario !== "normal" && html`· ${code(scenario)}`;
    const lines = [code(clientId), html`${moment(createdAt)} ${own}`];
    return linkedRow(`${view.root}${places.payments}/${id}`, title, statusBadge(status), lines);
  });
  return liveList({ live: `Payments: ${sandbox.payments().length}`, empty, ...list }, items);
}

/** Returns a list of deliveries; each row leads to the delivery's page. */
export function deliveryList(view: View, list: ListOptions, deliveries: readonly Delivery[]): Html {
  const { sandbox } = view;
  const empty = html`<strong>No webhook was sent yet</strong> The sandbox sends one for each payment that is
    approved. To see one now, try an address.`;
  const items = deliveries.map((delivery) => {
    const { id, url, attempt, durationMs, at, scenario, error } = delivery;
    const own = scenario !== undefined && html`· ${code(scenario)}`;
    const when = html`${moment(at)} · attempt ${attempt} · ${milliseconds(durationMs)}`;
    const problem = error !== undefined && html`<br />${error}`;
    const href = `${view.root}${places.webhooks}/deliveries/${id}`;
    const title = topicOf(delivery) ?? "Webhook without a topic";
    return linkedRow(href, title, answerBadge(delivery), [urlText(url), html`${when} ${own} ${problem}`]);
  });
  return liveList({ live: `Webhook deliveries: ${sandbox.deliveries.length}`, empty, ...list }, items);
}

/** Returns the last requests that were refused, each with the reason. */
export function refusalList({ sandbox }: View): Html {
  const all = sandbox.refusals;
  const last = all.slice(-25).toReversed();
  const items = last.map(({ at, request, status, detail }) => {
    return html`<li class="row">
      <code class="what">${request}</code> <span class="badge bad">${status}</span>
      <span class="more">${detail}</span> <span class="more">${moment(at)}</span>
    </li>`;
  });
  const empty = html`<strong>No request was refused</strong> Each one is shown here with its reason.`;
  return liveList({ id: "refusals-list", live: `Refused requests: ${all.length}`, empty }, items);
}

function linkedRow(href: string, title: string, badge: Html, lines: readonly Html[]): Html {
  return html`<li class="row">
    <a class="what" href="${href}">${title}</a>
    ${badge} ${lines.map((line) => html`<span class="more">${line}</span>`)}
  </li>`;
}

export function statusBadge(status: string): Html {
  const isBad = status === "canceled" || status === "failed";
  const tone = status === "completed" ? "good" : isBad && "bad";
  return html`<span class="badge ${tone}">${status}</span>`;
}

export function answerBadge(delivery: Delivery): Html {
  const tone = isDelivered(delivery) ? "good" : "bad";
  return html`<span class="badge ${tone}">${delivery.status ?? "no answer"}</span>`;
}

const withTopic = z.object({ topic: z.string().regex(/\S/) });

/** Returns the topic of a delivery; `undefined` if its body has no topic. */
export function topicOf({ requestBody }: Delivery): string | undefined {
  return withTopic.safeParse(readJson(requestBody)).data?.topic;
}
