import { type Html, html } from "../../pages/html.js";
import { type SandboxPayment } from "../state/payments.js";
import { type Delivery, isAccepted } from "../webhook/delivery.js";
import { formatAmount } from "../../pages/format/amount.js";
import { milliseconds, moment } from "../../pages/format/moment.js";
import { inLanguages } from "../../pages/language.js";
import { type View } from "./view.js";

/** A payment in a list; the whole row leads to its page. */
export function paymentRow(payment: SandboxPayment, { language, root }: View): Html {
  const { status, total, clientId, id, createdAt, scenario } = payment;
  return html`<li class="row">
    <a class="what" href="${root}/payments/${id}"
      >${formatAmount(total.value, total.currency, language)} ${total.currency}</a
    >
    ${statusPill(status)}
    <span class="more">
      <code>${clientId}</code>
      <span class="when"
        >${moment(createdAt, language)}${scenario !== "normal" && html` · <code>${scenario}</code>`}</span
      >
    </span>
  </li>`;
}

/** A payment's status, in the words of the interface in every language. */
export function statusPill(status: string): Html {
  const isBad = status === "canceled" || status === "failed";
  const tone = status === "completed" ? "good" : isBad && "bad";
  return html`<span class="pill ${tone}" lang="en">${status}</span>`;
}

/** A delivery in a list; the whole row leads to its page. */
export function deliveryRow(delivery: Delivery, { language, root }: View): Html {
  const { id, url, attempt, durationMs, at, scenario, error } = delivery;
  const words = deliveryWords[language];
  return html`<li class="row">
    <a class="what" href="${root}/developer/webhooks/deliveries/${id}"
      >${topicOf(delivery) ?? words.noTopic}</a
    >
    ${answerPill(delivery, { language })}
    <span class="more"><code>${url}</code></span>
    <span class="more">
      ${moment(at, language)} · ${words.attempt(attempt)} · ${milliseconds(durationMs, language)}
      ${scenario !== undefined && html` · <code>${scenario}</code>`}
      ${error !== undefined && html`<br /><span lang="en">${error}</span>`}
    </span>
  </li>`;
}

/** How the merchant answered. */
export function answerPill(delivery: Delivery, { language }: Pick<View, "language">): Html {
  const words = deliveryWords[language];
  return html`<span class="pill ${isAccepted(delivery) ? "good" : "bad"}"
    >${delivery.status === undefined ? words.noAnswer : String(delivery.status)}</span
  >`;
}

/** What the webhook was about, where its body says so. */
export function topicOf({ requestBody }: Delivery): string | undefined {
  try {
    const body: unknown = JSON.parse(requestBody);
    if (typeof body !== "object" || body === null || !("topic" in body)) return undefined;
    return typeof body.topic === "string" && body.topic.trim() !== "" ? body.topic : undefined;
  } catch {
    return undefined;
  }
}

/** The words about one delivery. */
export const deliveryWords = inLanguages({
  en: {
    noAnswer: "no answer",
    noTopic: "Webhook without a topic",
    attempt: (number: number) => `attempt ${number}`,
  },
  fr: {
    noAnswer: "pas de réponse",
    noTopic: "Webhook sans topic",
    attempt: (number: number) => `envoi n° ${number}`,
  },
});
