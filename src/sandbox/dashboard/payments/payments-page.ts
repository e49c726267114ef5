import { type Router } from "express";
import { formatAmount, moment } from "../../../pages/format.js";
import { type Html, html } from "../../../pages/html.js";
import { started } from "../../actions.js";
import { type Page } from "../../page.js";
import { type SandboxPayment } from "../../state/payments.js";
import { button, code, copyable, fact, link, postForm, section, selectField } from "../components.js";
import { type DashboardContext, type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, notice, places, unknownDashboardPage } from "../dashboard-page.js";
import { fieldForm, pageRoutes, type Params, showPage } from "../form.js";
import { deliveryList, listPage, paymentList, statusBadge } from "../lists.js";
import { paymentsTranslations } from "./translations.js";

type Payments = ViewWith<typeof paymentsTranslations>;

/** Returns the routes of `/payments`: every payment, and a page for each. */
export function payments(context: DashboardContext): Router {
  const { sandbox } = context;
  const done = async (id: string, name: string, run: () => Promise<unknown>): Promise<string> => {
    await started(run, { waitMs: 500 });
    return `${places.payments}/${id}?done=${name}`;
  };
  const router = pageRoutes(context, "/:id", paymentPage, {
    "/:id/pay": (input, id) =>
      done(id, "pay", () => sandbox.pay(id, { provider: input.get("provider") ?? "" })),
    "/:id/cancel": (_input, id) => done(id, "cancel", () => sandbox.cancel(id)),
    "/:id/fail": (_input, id) => done(id, "fail", () => sandbox.fail(id)),
    "/:id/scenario": (input, id) =>
      done(id, "scenario", async () => sandbox.scenario(input.get("scenario") ?? "", { for: id })),
  });
  router.get("/", showPage(context, paymentsPage));
  return router;
}

/** Returns the page with every payment, newest first. */
function paymentsPage(view: View): Page {
  const text = paymentsTranslations[view.language];
  const all = view.sandbox.payments();
  const { items, path, links } = listPage(view, places.payments, all);
  const before = all.length > 0 && html`<p class="lead">${text.lead(all.length)}</p>`;
  const content = paymentList(view, { id: "payments", before, after: links }, items);
  return dashboardPage(view, { place: "payments", title: text.title, path, content });
}

/** Returns the page of one payment: what can be done with it, its details and its webhooks. */
function paymentPage(given: View, { id = "" }: Params): Page {
  const view = withTranslations(given, paymentsTranslations);
  const { text } = view;
  const payment = view.sandbox.find(id);
  if (payment?.id !== id) return unknownDashboardPage(view, "payments");
  const { status, total } = payment;
  const amount = `${formatAmount(total, view.language)} ${total.currency}`;
  return dashboardPage(view, {
    place: "payments",
    path: `${places.payments}/${id}`,
    title: `${text.payment} ${amount}`,
    heading: html`<span class="hidden">${text.payment}</span> ${amount}`,
    back: { path: places.payments, text: text.title },
    badge: html`<span id="status" data-live="${status}">${statusBadge(status)}</span>`,
    done: text.done,
    content: [nextSteps(payment, view), details(payment, view), webhooks(payment, view)],
  });
}

function nextSteps(payment: SandboxPayment, view: Payments): Html {
  const { text } = view;
  const isCompleted = payment.status === "completed";
  const forms = isCompleted ? undefined : [decisions(payment, view), scenarioForm(payment, view)];
  const content = html`<div id="moves-list" data-live="${text.names.status} ${payment.status}">
    <div class="panel">${forms ?? html`<p class="empty">${text.complete}</p>`}</div>
  </div>`;
  return section({ id: "moves", title: text.moves }, content);
}

function decisions({ id, status }: SandboxPayment, view: Payments): Html {
  const { sandbox, text, root, input } = view;
  const path = `${places.payments}/${id}`;
  const isPending = status === "pending";
  const providers = sandbox.providers.map(({ code: value, name }) => [value, `${name} (${value})`] as const);
  const provider = selectField({ id: "provider", label: text.provider }, providers, input?.get("provider"));
  const others = html`<div class="buttons">
    <a class="button" href="${root}/payment/submit/${id}">${text.checkout}</a>
    ${postForm(view, `${path}/cancel`, button(text.cancel, { kind: "danger" }))}
    ${postForm(view, `${path}/fail`, button(text.fail, { kind: "danger" }))}
  </div>`;
  return html`<div class="fields">
    <p class="hint">${isPending ? text.movesLead : text.payAnyway}</p>
    ${fieldForm(view, `${path}/pay`, [provider, button(text.pay, { kind: "main" })], "inline")}
    ${isPending && others}
  </div>`;
}

function scenarioForm({ id, scenario }: SandboxPayment, view: Payments): Html {
  const { sandbox, shared, text } = view;
  const names = sandbox.scenarios.map(({ name }) => name);
  const field = { id: "scenario", label: shared.scenario, hint: text.scenarioHint };
  const choose = button(text.choose, { about: shared.scenario });
  const path = `${places.payments}/${id}/scenario`;
  return fieldForm(view, path, [selectField(field, names, scenario), choose], "inline");
}

function details(payment: SandboxPayment, view: Payments): Html {
  const { language, baseUrl, shared, text } = view;
  const { names } = text;
  const { id, total, submittedAt, providerId, source } = payment;
  const absent = html`<span class="empty">${text.absent}</span>`;
  const content = html`<dl class="panel facts" id="facts-list" data-live="">
    ${copyable(view, "payment-id", names.id, id)}
    ${copyable(view, "client-id", names.clientId, payment.clientId)}
    ${fact(names.status, code(payment.status))} ${fact(names.captured, payment.captured ? text.yes : text.no)}
    ${fact(names.amount, code(`${total.value} ${total.currency}`))}
    ${fact(shared.scenario, code(payment.scenario))}
    ${fact(names.createdAt, moment(payment.createdAt, language))}
    ${fact(names.submittedAt, submittedAt === undefined ? absent : moment(submittedAt, language))}
    ${fact(names.providerId, providerId === undefined ? absent : code(providerId))}
    ${fact(names.source, source === undefined ? absent : code(source))}
    ${fact(names.checkout, code(`${baseUrl}/payment/submit/${id}`))}
    ${fact(names.successUrl, code(payment.successUrl))} ${fact(names.cancelUrl, code(payment.cancelUrl))}
  </dl>`;
  return section({ id: "facts", title: text.facts }, content);
}

function webhooks({ id }: SandboxPayment, view: Payments): Html {
  const { sandbox, text } = view;
  const own = sandbox.deliveries.filter(({ paymentId }) => paymentId === id).toReversed();
  const toHold = link(view, `${places.webhooks}#hold`, text.toHold);
  const noAddress = html`${text.noAddress} ${link(view, places.webhooks, text.addAddress)}`;
  const list = {
    id: "webhooks-list",
    live: text.webhooksLive(own.length),
    before: sandbox.webhooksHeld && notice("warn", html`${text.held} ${toHold}`),
    empty: html`<strong>${text.noWebhooks}</strong> ${sandbox.webhookAddresses.length === 0 && noAddress}`,
  };
  return section({ id: "webhooks", title: text.webhooks }, deliveryList(view, list, own));
}
