import { type Html, html } from "../../../pages/html.js";
import { type Delivery } from "../../webhook/delivery.js";
import { milliseconds, moment } from "../../../pages/format/moment.js";
import { type Page } from "../../page.js";
import { deliveryPageWords } from "./delivery-words.js";
import { doneIn } from "../done.js";
import { framed, places } from "../frame.js";
import { copyable, fact } from "../pieces.js";
import { answerPill, deliveryWords, topicOf } from "../rows.js";
import { type View } from "../view.js";

/** One attempt to deliver one webhook: what was sent, what came back, and a button to send it again. */
export function deliveryPage(delivery: Delivery, view: View): Page {
  const { language, root } = view;
  const words = deliveryPageWords[language];
  const title = topicOf(delivery) ?? deliveryWords[language].noTopic;
  const path = `${places.webhooks}/deliveries/${delivery.id}`;
  return framed(view, {
    place: "webhooks",
    title,
    path,
    done: doneIn(words.done, view),
    head: html`<a class="back" href="${root}${places.webhooks}#deliveries">← ${words.back}</a>
      <div class="title">
        <h1>${title}</h1>
        ${answerPill(delivery, view)}
      </div>`,
    content: [
      html`<form class="again" method="post" action="${root}${path}/again">
        <button class="button main">${words.again}</button>
        <p class="hint">${words.againHint}</p>
      </form>`,
      facts(delivery, view),
      request(delivery, view),
      response(delivery, view),
    ],
  });
}

function facts(delivery: Delivery, view: View): Html {
  const { language, root } = view;
  const words = deliveryPageWords[language];
  const { names } = words;
  const { id, url, at, durationMs, attempt, paymentId, scenario } = delivery;
  const payment =
    paymentId === undefined
      ? words.noPayment
      : html`<a href="${root}${places.payments}/${paymentId}"><code>${paymentId}</code></a>`;
  return html`<section aria-labelledby="facts">
    <div class="head"><h2 id="facts">${words.facts}</h2></div>
    <dl class="panel facts">
      ${fact(names.url, html`<code>${url}</code>`)} ${fact(names.at, moment(at, language))}
      ${fact(names.duration, milliseconds(durationMs, language))} ${fact(names.attempt, attempt)}
      ${fact(names.payment, payment)}
      ${scenario !== undefined && fact(names.scenario, html`<code>${scenario}</code>`)}
      ${copyable(view, { id: "delivery-id", name: names.id, value: id })}
    </dl>
  </section>`;
}

function request({ headers, requestBody }: Delivery, { language }: View): Html {
  const words = deliveryPageWords[language];
  const pretty = prettyJson(requestBody);
  return html`<section aria-labelledby="request">
    <div class="head"><h2 id="request">${words.request}</h2></div>
    <div class="panel">
      ${headerList(words.headers, headers)}
      <div>
        <h3>${words.body}</h3>
        ${pretty === undefined && html`<p class="hint">${words.unreadable}</p>`}
        <pre>${pretty ?? requestBody}</pre>
        ${
          pretty !== undefined &&
          html`<details>
            <summary>${words.raw}</summary>
            <pre>${requestBody}</pre>
          </details>`
        }
      </div>
    </div>
  </section>`;
}

function response({ status, error, responseHeaders, responseBody = "" }: Delivery, { language }: View): Html {
  const words = deliveryPageWords[language];
  return html`<section aria-labelledby="response">
    <div class="head"><h2 id="response">${words.response}</h2></div>
    <div class="panel">
      ${
        status === undefined
          ? html`<p class="empty">
              <strong>${words.noAnswer}</strong>
              ${error !== undefined && html`<span lang="en">${error}</span>`}
            </p>`
          : html`<dl class="panel-part facts">${fact(words.status, html`<code>${status}</code>`)}</dl>
              ${headerList(words.headers, responseHeaders ?? {})}
              <div>
                <h3>${words.body}</h3>
                ${
                  responseBody === ""
                    ? html`<p class="empty">${words.empty}</p>`
                    : html`<pre>${responseBody}</pre>`
                }
              </div>`
      }
    </div>
  </section>`;
}

function headerList(title: string, headers: Readonly<Record<string, string>>): Html {
  return html`<div>
    <h3>${title}</h3>
    <dl class="headers">
      ${Object.entries(headers).map(
        ([name, value]) =>
          html`<div>
            <dt><code>${name}</code></dt>
            <dd><code>${value}</code></dd>
          </div>`,
      )}
    </dl>
  </div>`;
}

function prettyJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}
