import { type Router } from "express";
import { milliseconds, moment } from "../../../pages/format.js";
import { type Html, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import { type WebhookAddress } from "../../state/addresses.js";
import { type Delivery, isDelivered } from "../../webhook/delivery.js";
import { button, code, copyable, fact, link, postForm, secret, section, textField } from "../components.js";
import { type DashboardContext, type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, notice, places } from "../dashboard-page.js";
import { fieldForm, pageRoutes, problemId, showPage } from "../form.js";
import { deliveryList, listPage } from "../lists.js";
import { deliveryPage } from "./delivery-page.js";
import { webhooksTranslations } from "./translations.js";

type Webhooks = ViewWith<typeof webhooksTranslations>;

const home = places.webhooks;

/** Returns the routes of `/developer/webhooks`: addresses, signing, and every delivery. */
export function webhooks(context: DashboardContext): Router {
  const { sandbox } = context;
  const router = pageRoutes(context, "/", webhooksPage, {
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
    "/hold": (input) => {
      sandbox.holdWebhooks();
      return `${origin(input)}?done=held`;
    },
    "/release": (input) => {
      sandbox.releaseWebhooks();
      return `${origin(input)}?done=released`;
    },
    "/deliveries/:id/again": async (_input, id) => {
      const again = await sandbox.deliverAgain(id);
      return `${home}/deliveries/${again.id}?done=again`;
    },
  });
  router.get("/deliveries/:id", showPage(context, deliveryPage));
  return router;
}

/** Returns the page with the button that was pressed: the overview has it too. */
function origin(input: URLSearchParams): string {
  return input.get("from") === "overview" ? places.overview : home;
}

/** Returns the page with the webhook addresses, the signing, and every delivery (interface document, 4.4). */
function webhooksPage(given: View): Page {
  const view = withTranslations(given, webhooksTranslations);
  const { text } = view;
  const { sandbox, query, shared } = view;
  const all = sandbox.deliveries;
  const { items, path, links } = listPage(view, home, all);
  const tried = all.find(({ id }) => id === query["tried"]);
  const before = all.length > 0 && html`<p class="lead">${text.count(all.length)}</p>`;
  const deliveries = deliveryList(view, { id: "deliveries-list", before, after: links }, items);
  return dashboardPage(view, {
    place: "webhooks",
    title: text.title,
    path,
    done: { held: shared.held, released: shared.released, ...text.done },
    notice: tried && triedNotice(tried, view),
    lead: text.lead,
    content: [
      addresses(view),
      signing(view),
      sending(view),
      section({ id: "deliveries", title: text.deliveries }, deliveries),
    ],
  });
}

function triedNotice(delivery: Delivery, view: Webhooks): Html {
  const { id, status, error = "", durationMs } = delivery;
  const { language, text } = view;
  const took = milliseconds(durationMs, language);
  const answer = status === undefined ? text.triedInVain(error) : text.tried(status, took);
  const seeIt = link(view, `${home}/deliveries/${id}`, text.see);
  return notice(isDelivered(delivery) ? "good" : "bad", html`${answer} ${seeIt}`, html`role="status"`);
}

function addresses(view: Webhooks): Html {
  const { input, problem, sandbox, text } = view;
  const isWrong = problem !== undefined && input?.has("url") === true;
  const more = html`type="url" required aria-invalid="${String(isWrong)}" aria-errormessage="${problemId}"`;
  const field = { id: "url", label: text.address, hint: text.addressHint };
  const fields = [textField(field, input?.get("url"), more), button(text.add, { kind: "main" })];
  const items = sandbox.webhookAddresses.map((address) => addressItem(address, view));
  const none = html`<li class="empty"><strong>${text.noAddresses}</strong> ${text.noAddressesText}</li>`;
  const content = html`<div class="panel">
    <ul class="panel-part">
      ${items.length === 0 ? none : items}
    </ul>
    ${fieldForm(view, `${home}/addresses`, fields, "inline")}
  </div>`;
  return section({ id: "addresses", title: text.addresses }, content);
}

function addressItem({ id, url, addedAt }: WebhookAddress, view: Webhooks): Html {
  const { language, text } = view;
  const path = `${home}/addresses/${id}`;
  return html`<li class="row">
    <code class="what">${url}</code>
    <div class="buttons control wide">
      ${postForm(view, `${path}/try`, button(text.try, { about: url }))}
      ${postForm(view, `${path}/remove`, button(text.remove, { kind: "danger", about: url }))}
    </div>
    <span class="more">${text.added} ${moment(addedAt, language)}</span>
  </li>`;
}

/** Returns everything that a merchant configures to check signatures, and the button that makes a new secret. */
function signing(view: Webhooks): Html {
  const { text } = view;
  const { scheme, header, algorithm, merchantId, fields, ...secrets } = view.sandbox.signing;
  const secretOf = (id: string, name: string, value: string | undefined) =>
    value !== undefined && secret(view, id, name, value);
  const rotate = [html`<p class="hint">${text.rotateHint}</p>`, button(text.rotate)];
  const content = html`<div class="panel">
    <dl class="panel-part facts">
      ${fact(text.scheme, text.schemes[scheme])}
      ${algorithm !== undefined && fact(text.algorithm, code(algorithm))}
      ${copyable(view, "header", text.header, header)}
      ${merchantId !== undefined && copyable(view, "merchant-id", "merchantId", merchantId)}
      ${fields !== undefined && fact(text.fields, code(fields.join(",")))}
      ${secretOf("secret", text.secret, secrets.secret)}
      ${secretOf("previous-secret", text.previousSecret, secrets.previousSecret)}
    </dl>
    ${scheme !== "custom" && postForm(view, `${home}/secret/rotate`, rotate, "inline")}
  </div>`;
  return section({ id: "signing", title: text.signing, lead: text.signingLead }, content);
}

function sending(view: Webhooks): Html {
  const { sandbox, shared, text } = view;
  const isHeld = sandbox.webhooksHeld;
  const order = isHeld ? "release" : "hold";
  const state = html`<div>
    <p class="label">${isHeld ? text.held : text.flowing}</p>
    <p class="hint">${text.holdHint}</p>
  </div>`;
  const press = button(shared[order], { kind: isHeld ? "main" : "", about: text.title });
  const form = postForm(view, `${home}/${order}`, [state, press], "inline");
  return section({ id: "hold", title: text.hold }, html`<div class="panel">${form}</div>`);
}
