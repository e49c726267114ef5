import { type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { type WebhookAddress } from "../../state/addresses.js";
import { type Delivery } from "../../webhook/delivery.js";
import { milliseconds, moment } from "../../../pages/format/moment.js";
import { type Page } from "../../page.js";
import { doneIn } from "../done.js";
import { framed, places } from "../frame.js";
import { cut, pager } from "../pieces.js";
import { deliveryRow } from "../rows.js";
import { signingSection } from "./signing-section.js";
import { type View } from "../view.js";
import { webhooksWords } from "./webhooks-words.js";

const action = places.webhooks;

/** Where webhooks go, how they are signed, and every one that was sent (interface document, 4.4). */
export function webhooksPage(sandbox: Sandbox, view: View): Page {
  const words = webhooksWords[view.language];
  const part = cut(sandbox.deliveries, view);
  const tried = sandbox.deliveries.find(({ id }) => id === view.query["tried"]);
  return framed(view, {
    place: "webhooks",
    title: words.title,
    path: part.number > 1 ? `${action}?page=${part.number}` : action,
    done: tried === undefined ? doneIn(words.done, view) : triedNotice(tried, view),
    head: html`<h1>${words.title}</h1>
      <p class="lead">${words.lead}</p>`,
    content: [
      addresses(sandbox, view),
      signingSection(sandbox.signing, view),
      sending(sandbox, view),
      html`<section aria-labelledby="deliveries">
        <div class="head"><h2 id="deliveries">${words.deliveries}</h2></div>
        <div id="deliveries-list" data-live="${words.live(part.total)}">
          ${part.total > 0 && html`<p class="lead">${words.count(part.total)}</p>`}
          <ul class="panel">
            ${part.shown.map((delivery) => deliveryRow(delivery, view))}
            ${
              part.total === 0 &&
              html`<li class="empty"><strong>${words.none}</strong> ${words.noneText}</li>`
            }
          </ul>
          ${pager(view, action, part)}
        </div>
      </section>`,
    ],
  });
}

function triedNotice({ id, status, error = "", durationMs }: Delivery, { language, root }: View): Html {
  const words = webhooksWords[language];
  const told =
    status === undefined
      ? words.triedInVain(error)
      : words.tried(String(status), milliseconds(durationMs, language));
  return html`${told} <a href="${root}${action}/deliveries/${id}">${words.see}</a>`;
}

function addresses({ webhookAddresses }: Sandbox, view: View): Html {
  const words = webhooksWords[view.language];
  const { typed, problem, root } = view;
  const isWrong = problem !== undefined && typed?.has("url") === true;
  return html`<section aria-labelledby="addresses">
    <div class="head"><h2 id="addresses">${words.addresses}</h2></div>
    <div class="panel">
      ${
        webhookAddresses.length === 0
          ? html`<p class="empty"><strong>${words.noAddresses}</strong> ${words.noAddressesText}</p>`
          : html`<ul class="plain">
              ${webhookAddresses.map((address) => addressRow(address, view))}
            </ul>`
      }
      <form class="inline" method="post" action="${root}${action}/addresses">
        <div class="field">
          <label for="url">${words.address}</label>
          <p class="hint" id="url-hint">${words.addressHint}</p>
          <input
            id="url"
            name="url"
            type="url"
            required
            autocomplete="off"
            aria-describedby="url-hint"
            aria-invalid="${isWrong ? "true" : "false"}"
            value="${typed?.text("url")}"
          />
        </div>
        <button class="button main">${words.add}</button>
      </form>
    </div>
  </section>`;
}

function addressRow({ id, url, addedAt }: WebhookAddress, { language, root }: View): Html {
  const words = webhooksWords[language];
  return html`<li class="row">
    <code class="what">${url}</code>
    <div class="buttons control wide">
      <form method="post" action="${root}${action}/addresses/${id}/try">
        <button class="button">${words.try} <span class="hidden">${url}</span></button>
      </form>
      <form method="post" action="${root}${action}/addresses/${id}/remove">
        <button class="button grave">${words.remove} <span class="hidden">${url}</span></button>
      </form>
    </div>
    <span class="more">${words.added} ${moment(addedAt, language)}</span>
  </li>`;
}

function sending({ webhooksHeld }: Sandbox, { language, root }: View): Html {
  const words = webhooksWords[language];
  return html`<section aria-labelledby="hold">
    <div class="head"><h2 id="hold">${words.hold}</h2></div>
    <div class="panel">
      <form class="inline" method="post" action="${root}${action}/${webhooksHeld ? "release" : "hold"}">
        <div>
          <p class="label">${webhooksHeld ? words.held : words.flowing}</p>
          <p class="hint">${words.holdHint}</p>
        </div>
        <button class="button ${webhooksHeld && "main"}">
          ${webhooksHeld ? words.release : words.holdNow} <span class="hidden">${words.title}</span>
        </button>
      </form>
    </div>
  </section>`;
}
