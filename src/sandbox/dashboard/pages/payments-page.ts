import { type Router } from "express";
import { type Html, html } from "../../../pages/html.js";
import { withTimeout } from "../../../shared/with-timeout.js";
import { type Page } from "../../http/page.js";
import { type SandboxPayment } from "../../state/payments.js";
import { code, copyable, link, namedValue, section, urlText } from "../frame/components.js";
import { button, fieldForm, postForm, selectField } from "../frame/form.js";
import { type DashboardContext, pageRoutes, type Params, showPage, type View } from "../frame/page-routes.js";
import { dashboardPage, notice, places, unknownDashboardPage } from "../frame/dashboard-page.js";
import { amountOf, moment } from "../frame/format.js";
import { deliveryList, listPage, paymentList, statusBadge } from "../frame/lists.js";

/** Returns the routes of `/payments`: every payment, and a page for each. */
export function paymentRoutes(context: DashboardContext): Router {
  const { sandbox } = context;
  const done = async (id: string, name: string, action: Promise<unknown>): Promise<string> => {
    await withTimeout(action, 500);
    return `${places.payments}/${id}?done=${name}`;
  };
  const router = pageRoutes(context, "/:id", paymentPage, {
    "/:id/pay": (input, id) => done(id, "pay", sandbox.pay(id, { provider: input.get("provider") ?? "" })),
    "/:id/cancel": (_input, id) => done(id, "cancel", sandbox.cancel(id)),
    "/:id/fail": (_input, id) => done(id, "fail", sandbox.fail(id)),
    "/:id/scenario": (input, id) => {
      sandbox.scenario(input.get("scenario") ?? "", { for: id });
      return `${places.payments}/${id}?done=scenario`;
    },
  });
  router.get("/", showPage(context, paymentsPage));
  return router;
}

function paymentsPage(view: View): Page {
  const all = view.sandbox.payments();
  const { items, path, links } = listPage(view, places.payments, all);
  const before =
    all.length > 0 &&
    html`<p class="lead">${all.length === 1 ? "1 payment" : `${all.length} payments`}, newest first.</p>`;
  const content = paymentList(view, { id: "payments", before, after: links }, items);
  return dashboardPage(view, { place: "payments", title: "Payments", path, content });
}

/** Returns the page of one payment, with its possible actions, its details and its webhooks. */
function paymentPage(view: View, { id = "" }: Params): Page {
  const payment = view.sandbox.find(id);
  if (payment?.id !== id) return unknownDashboardPage(view, "payments");
  const { status, total } = payment;
  const amount = amountOf(total);
  return dashboardPage(view, {
    place: "payments",
    path: `${places.payments}/${id}`,
    title: `Payment ${amount}`,
    heading: html`<span class="hidden">Payment</span> ${amount}`,
    back: { path: places.payments, text: "Payments" },
    badge: html`<span id="status" data-live="${status}">${statusBadge(status)}</span>`,
    done: {
      pay: "Paid, as if the customer had approved.",
      cancel: "Canceled, as if the customer had.",
      fail: "Failed, as if the provider had refused.",
      scenario: "The payment uses this scenario from now on.",
    },
    content: [nextSteps(payment, view), details(payment, view), webhooksOfPayment(payment, view)],
  });
}

function nextSteps(payment: SandboxPayment, view: View): Html {
  const isCompleted = payment.status === "completed";
  const forms = isCompleted ? undefined : [decisions(payment, view), scenarioForm(payment, view)];
  const content = html`<div id="moves-list" data-live="Status ${payment.status}">
    <div class="panel">${forms ?? html`<p class="empty">Completed. The status is final.</p>`}</div>
  </div>`;
  return section({ id: "moves", title: "What happens next" }, content);
}

function decisions({ id, status }: SandboxPayment, view: View): Html {
  const { sandbox, root, input } = view;
  const path = `${places.payments}/${id}`;
  const isPending = status === "pending";
  const providers = sandbox.providers.map(({ code: value, name }) => [value, `${name} (${value})`] as const);
  const provider = selectField({ id: "provider", label: "Provider" }, providers, input?.get("provider"));
  const others = html`<div class="buttons">
    <a class="button" href="${root}/payment/submit/${id}">Open the checkout page</a>
    ${postForm(view, `${path}/cancel`, button("Cancel", { kind: "danger" }))}
    ${postForm(view, `${path}/fail`, button("Fail", { kind: "danger" }))}
  </div>`;
  return html`<div class="fields">
    <p class="hint">
      ${isPending ? "Act as the customer or as the provider." : "A real service may still accept it."}
    </p>
    ${fieldForm(view, `${path}/pay`, [provider, button("Pay", { kind: "main" })], "inline")}
    ${isPending && others}
  </div>`;
}

function scenarioForm({ id, scenario }: SandboxPayment, view: View): Html {
  const { sandbox } = view;
  const names = sandbox.scenarios.map(({ name }) => name);
  const field = { id: "scenario", label: "Scenario", hint: "The scenario of this payment from now on." };
  const choose = button("Choose", { about: "Scenario" });
  const path = `${places.payments}/${id}/scenario`;
  return fieldForm(view, path, [selectField(field, names, scenario), choose], "inline");
}

function details(payment: SandboxPayment, view: View): Html {
  const { baseUrl } = view;
  const { id, total, submittedAt, providerId, source } = payment;
  const absent = html`<span class="empty">not yet</span>`;
  const content = html`<dl class="panel facts" id="facts-list" data-live="">
    ${copyable("payment-id", "Id", id)} ${copyable("client-id", "clientId", payment.clientId)}
    ${namedValue("Status", code(payment.status))} ${namedValue("Captured", payment.captured ? "yes" : "no")}
    ${namedValue("Amount", amountOf(total))} ${namedValue("Scenario", code(payment.scenario))}
    ${namedValue("Created", moment(payment.createdAt))}
    ${namedValue("Submitted", submittedAt === undefined ? absent : moment(submittedAt))}
    ${namedValue("Provider’s reference", providerId === undefined ? absent : code(providerId))}
    ${namedValue("Source", source === undefined ? absent : code(source))}
    ${namedValue("Checkout page", urlText(`${baseUrl}/payment/submit/${id}`))}
    ${namedValue("Success address", urlText(payment.successUrl))}
    ${namedValue("Cancel address", urlText(payment.cancelUrl))}
  </dl>`;
  return section({ id: "facts", title: "Details" }, content);
}

function webhooksOfPayment({ id }: SandboxPayment, view: View): Html {
  const { sandbox } = view;
  const own = sandbox.deliveries.filter(({ paymentId }) => paymentId === id).toReversed();
  const toHold = link(view, `${places.webhooks}#hold`, "Release them");
  const noAddress = html`No address is registered. ${link(view, places.webhooks, "Add an address")}`;
  const list = {
    id: "webhooks-list",
    live: `Webhook deliveries of this payment: ${own.length}`,
    before: sandbox.webhooksHeld && notice("warn", html`Webhooks are held back. ${toHold}`),
    empty: html`<strong>No webhook was sent for it yet</strong>
      ${sandbox.webhookAddresses.length === 0 && noAddress}`,
  };
  return section({ id: "webhooks", title: "Its webhooks" }, deliveryList(view, list, own));
}
