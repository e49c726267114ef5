import { type Scenario } from "./scenario.js";

/** The scenario without any fault. */
export const normal: Scenario = {
  name: "normal",
  about: "Everything works.",
};

/** The scenarios of the catalogue by name. The order never changes, and new scenarios come last. */
const faults: Readonly<Record<string, Omit<Scenario, "name">>> = {
  "webhook-delayed": {
    about: "The webhook comes ten seconds late.",
    webhooks: [{ delayMs: 10_000 }],
  },
  "webhook-doubled": {
    about: "The same webhook comes twice, at the same time.",
    webhooks: [{ times: 2 }],
  },
  "webhook-reordered": {
    about: "The completed webhook arrives first, and the older statuses follow.",
    webhooks: [
      {},
      { status: "submitted", delayMs: 200, timestampOffsetMs: -1000 },
      { status: "pending", delayMs: 400, timestampOffsetMs: -2000 },
    ],
  },
  "webhook-dropped": {
    about: "The first attempt is lost; a retry arrives.",
    webhooks: [{ loseFirst: true }],
  },
  "webhook-never": {
    about: "The payment completes, and no webhook is ever sent.",
    webhooks: [],
  },
  "webhook-before-creation-answer": {
    about: "The webhook arrives before the answer to the creation.",
    creation: { afterWebhooks: true },
    moves: { created: [{ status: "completed" }] },
  },
  "webhook-during-checkout": {
    about: "The webhook arrives while the customer is still on the checkout page.",
    moves: { opened: [{ status: "completed" }] },
  },
  "signature-wrong": {
    about: "The webhook's signature is wrong.",
    webhooks: [{ sign: "wrong" }],
  },
  "signature-old-secret": {
    about: "The webhook is signed with a secret that was replaced.",
    webhooks: [{ sign: "old-secret" }],
  },
  "signature-missing": {
    about: "The webhook carries no signature.",
    webhooks: [{ sign: "missing" }],
  },
  "amount-changed": {
    about: "The service reports, and signs, another amount.",
    webhooks: [{ change: ["amount"] }],
  },
  "amount-tampered": {
    about: "The amount is changed in transit, after signing.",
    webhooks: [{ tamper: ["amount"] }],
  },
  "currency-changed": {
    about: "The service reports, and signs, another currency.",
    webhooks: [{ change: ["currency"] }],
  },
  "client-id-of-another": {
    about: "The webhook carries the clientId of another payment.",
    webhooks: [{ change: ["clientId"] }],
  },
  "body-truncated": {
    about: "Half of the webhook's body is missing.",
    webhooks: [{ truncate: true }],
  },
  "topic-unknown": {
    about: "A webhook with an unknown topic and an unknown status arrives before the right one.",
    webhooks: [
      { set: { topic: "payment.reviewed", "data.status": "reviewed", "data.captured": false } },
      { delayMs: 200 },
    ],
  },
  "status-unknown": {
    about: "An unknown status is reported before completed.",
    moves: {
      approved: [
        { status: "verifying", webhook: true },
        { status: "completed", delayMs: 200 },
      ],
    },
  },
  "fields-extra": {
    about: "The webhook has fields that the interface document does not name.",
    webhooks: [{ set: { version: 2, "data.fee": { value: "15", currency: "KMF" }, "data.note": "merci" } }],
  },
  "creation-slow": {
    about: "The response to the creation takes three seconds.",
    creation: { delayMs: 3000 },
  },
  "creation-hangs": {
    about: "The creation gets no response and makes no payment.",
    creation: { answer: "hang" },
  },
  "creation-error": {
    about: "The creation fails with status 500 and makes no payment.",
    creation: { answer: "error" },
  },
  "creation-late": {
    about: "The payment exists, but the response takes 30 seconds, longer than any timeout.",
    creation: { delayMs: 30_000 },
  },
  "creation-html": {
    about: "The response to the creation is an HTML page of a proxy.",
    creation: { answer: "html" },
  },
  "creation-reset": {
    about: "The payment exists, but the connection breaks before the response.",
    creation: { answer: "reset", exists: true },
  },
  "token-down": {
    about: "No access token can be obtained: status 503.",
    token: { answer: "unavailable" },
  },
  "token-expired-early": {
    about: "Access tokens stop working after a minute, earlier than the response says.",
    token: { expiresAfterMs: 60_000 },
  },
  "success-without-webhook": {
    about: "The browser goes to the success address, but nothing is paid and no webhook arrives.",
    moves: { approved: [] },
  },
  "canceled-then-paid": {
    about: "The customer cancels, but the payment completes five seconds later.",
    moves: { canceled: [{ status: "canceled" }, { status: "completed", delayMs: 5000 }] },
  },
  "paid-twice": {
    about: "A canceled payment completes when the next one of the same amount completes.",
    paidWithNext: true,
  },
  "payment-failed": {
    about: "The provider refuses the payment.",
    moves: { approved: [{ status: "failed", webhook: true }] },
  },
  "failed-then-paid": {
    about: "The payment fails, but completes five seconds later.",
    moves: {
      approved: [
        { status: "failed", webhook: true },
        { status: "completed", delayMs: 5000 },
      ],
    },
  },
  "webhook-replayed": {
    about: "The same webhook comes again half an hour later.",
    webhooks: [{}, { delayMs: 1_800_000 }],
  },
  "type-unknown": {
    about: "A webhook that is not about a payment arrives before the right one.",
    webhooks: [
      { set: { topic: "payout.settled", type: "payout", data: { id: "po_1", status: "settled" } } },
      { delayMs: 200 },
    ],
  },
  "paid-other-amount": {
    about: "A payment completes a second after the shop created the next one, of another amount.",
    moves: { replaced: [{ status: "completed", delayMs: 1000 }] },
  },
};

/** The scenarios with a fault. A total of 777001 in any currency chooses the first, 777002 the second. */
export const catalogue: readonly Scenario[] = Object.entries(faults).map(([name, fault]) => ({
  name,
  ...fault,
}));

/** The total that chooses the first scenario of the catalogue. The next total chooses the next scenario. */
export const firstChoosingAmount = 777_001;
