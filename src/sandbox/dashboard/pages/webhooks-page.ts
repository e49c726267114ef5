import { type Router } from "express";
import { type Html, html } from "../../../pages/html.js";
import { type Page } from "../../http/page.js";
import { type WebhookAddress } from "../../state/addresses.js";
import { type Delivery, isDelivered } from "../../state/delivery.js";
import { code, copyable, link, namedValue, secret, section, urlText } from "../frame/components.js";
import { button, fieldForm, postForm, problemId, textField } from "../frame/form.js";
import { type DashboardContext, pageRoutes, showPage, type View } from "../frame/page-routes.js";
import { dashboardPage, notice, places } from "../frame/dashboard-page.js";
import { milliseconds, moment } from "../frame/format.js";
import { deliveryList, listPage } from "../frame/lists.js";
import { deliveryPage } from "./delivery-page.js";

const home = places.webhooks;

/** Returns the routes of `/developer/webhooks`: addresses, signing, and every delivery. */
export function webhookRoutes(context: DashboardContext): Router {
  const { sandbox } = context;
  const router = pageRoutes(context, "/", webhookListPage, {
    "/addresses": (input) => {
      sandbox.registerWebhook(input.get("url")?.trim() ?? "");
      return `${home}?done=added`;
    },
    "/addresses/:id/remove": (_input, id) => {
      sandbox.unregisterWebhook(id);
      return `${home}?done=removed`;
    },
    "/addresses/:id/try": async (_input, id) => `${home}?tried=${(await sandbox.tryWebhook(id)).id}`,
    "/secret/rotate": () => {
      sandbox.rotateSecret();
      return `${home}?done=rotated#signing`;
    },
    "/hold": () => {
      sandbox.holdWebhooks();
      return `${home}?done=held`;
    },
    "/release": () => {
      sandbox.releaseWebhooks();
      return `${home}?done=released`;
    },
    "/deliveries/:id/again": async (_input, id) => {
      const again = await sandbox.deliverAgain(id);
      return `${home}/deliveries/${again.id}?done=again`;
    },
  });
  router.get("/deliveries/:id", showPage(context, deliveryPage));
  return router;
}

/** Returns the page with the webhook addresses, the signing, and every delivery (interface document, 4.4). */
function webhookListPage(view: View): Page {
  const { sandbox, query } = view;
  const all = sandbox.deliveries;
  const { items, path, links } = listPage(view, home, all);
  const tried = all.find(({ id }) => id === query["tried"]);
  const before =
    all.length > 0 &&
    html`<p class="lead">${all.length === 1 ? "1 attempt" : `${all.length} attempts`}, newest first.</p>`;
  const deliveries = deliveryList(view, { id: "deliveries-list", before, after: links }, items);
  return dashboardPage(view, {
    place: "webhooks",
    title: "Webhooks",
    path,
    done: {
      held: "Webhooks are held back from now on.",
      released: "Webhooks are sent again.",
      added: "The address is registered.",
      removed: "The address gets no more webhooks.",
      rotated: "A new secret signs from now on. The previous one is shown below it.",
    },
    notice: tried && triedNotice(tried, view),
    lead: "Every registered address gets a signed POST when the status of a payment changes.",
    content: [
      addresses(view),
      signing(view),
      sending(view),
      section({ id: "deliveries", title: "Deliveries" }, deliveries),
    ],
  });
}

function triedNotice(delivery: Delivery, view: View): Html {
  const { id, status, error = "", durationMs } = delivery;
  const took = milliseconds(durationMs);
  const answer =
    status === undefined
      ? `The address did not answer: ${error}.`
      : `The address answered ${status}, in ${took}.`;
  const seeIt = link(view, `${home}/deliveries/${id}`, "See the exchange");
  return notice(isDelivered(delivery) ? "good" : "bad", html`${answer} ${seeIt}`, html`role="status"`);
}

function addresses(view: View): Html {
  const { input, problem, sandbox } = view;
  const isWrong = problem !== undefined && input?.has("url") === true;
  const more = html`type="url" required aria-invalid="${String(isWrong)}" aria-errormessage="${problemId}"`;
  const field = {
    id: "url",
    label: "New address",
    hint: "Your shop’s public endpoint, such as http://localhost:3000/payments/webhook",
  };
  const fields = [textField(field, input?.get("url"), more), button("Add", { kind: "main" })];
  const items = sandbox.webhookAddresses.map((address) => addressItem(address, view));
  const none = html`<li class="empty">
    <strong>No address is registered</strong> Your shop receives no webhook.
  </li>`;
  const content = html`<div class="panel">
    <ul class="panel-part">
      ${items.length === 0 ? none : items}
    </ul>
    ${fieldForm(view, `${home}/addresses`, fields, "inline")}
  </div>`;
  return section({ id: "addresses", title: "Addresses" }, content);
}

function addressItem({ id, url, addedAt }: WebhookAddress, view: View): Html {
  const path = `${home}/addresses/${id}`;
  return html`<li class="row">
    <span class="what">${urlText(url)}</span>
    <div class="buttons control wide">
      ${postForm(view, `${path}/try`, button("Try", { about: url }))}
      ${postForm(view, `${path}/remove`, button("Remove", { kind: "danger", about: url }))}
    </div>
    <span class="more">added ${moment(addedAt)}</span>
  </li>`;
}

const schemes = {
  hmac: "HMAC over the raw body, in hexadecimal",
  fields: "HMAC over fields of the body joined by commas, in hexadecimal",
  custom: "Given by the program that started this sandbox; its secret is not known here",
} as const;

/** Returns the settings with which a merchant checks signatures, and the button that makes a new secret. */
function signing(view: View): Html {
  const { scheme, header, algorithm, merchantId, fields, ...secrets } = view.sandbox.signing;
  const secretOf = (id: string, name: string, value: string | undefined) =>
    value !== undefined && secret(id, name, value);
  const rotate = [
    html`<p class="hint">
      The new secret signs from then on. Your shop should accept both for a while, so that it refuses no
      webhook on its way.
    </p>`,
    button("Rotate the secret"),
  ];
  const content = html`<div class="panel">
    <dl class="panel-part facts">
      ${namedValue("Scheme", schemes[scheme])}
      ${algorithm !== undefined && namedValue("Algorithm", code(algorithm))}
      ${copyable("header", "Header", header)}
      ${merchantId !== undefined && copyable("merchant-id", "merchantId", merchantId)}
      ${fields !== undefined && namedValue("Signed fields", code(fields.join(",")))}
      ${secretOf("secret", "Secret", secrets.secret)}
      ${secretOf("previous-secret", "Previous secret", secrets.previousSecret)}
    </dl>
    ${scheme !== "custom" && postForm(view, `${home}/secret/rotate`, rotate, "inline")}
  </div>`;
  return section(
    { id: "signing", title: "Signing", lead: "How your shop recognizes these webhooks." },
    content,
  );
}

function sending(view: View): Html {
  const { sandbox } = view;
  const isHeld = sandbox.webhooksHeld;
  const [order, text] = isHeld ? ["release", "Release"] : ["hold", "Hold back"];
  const state = html`<div>
    <p class="label">
      ${isHeld ? "Webhooks are held back until you release them." : "Webhooks are sent when payments change."}
    </p>
    <p class="hint">Hold them back to look at your shop’s pages before the confirmation arrives.</p>
  </div>`;
  const press = button(text, { kind: isHeld ? "main" : "", about: "Webhooks" });
  const form = postForm(view, `${home}/${order}`, [state, press], "inline");
  return section({ id: "hold", title: "Holding back" }, html`<div class="panel">${form}</div>`);
}
