import { type Scenario } from "./scenario.js";

/** The day as it should be. */
export const normal: Scenario = {
  name: "normal",
  about: "All goes well.",
  about_fr: "Tout se passe bien.",
};

/**
 * The bad days, in the order of their numbers: the total 777001 chooses the first, whatever the currency. They are added
 * at the end, never reordered.
 */
export const catalogue: readonly Scenario[] = [
  {
    name: "webhook-delayed",
    about: "The webhook comes ten seconds late.",
    about_fr: "Le webhook arrive avec dix secondes de retard.",
    webhooks: [{ delayMs: 10_000 }],
  },
  {
    name: "webhook-doubled",
    about: "The same webhook comes twice, at once.",
    about_fr: "Le même webhook arrive deux fois, en même temps.",
    webhooks: [{ times: 2 }],
  },
  {
    name: "webhook-reordered",
    about: "Completed comes first, and the older statuses after it.",
    about_fr: "« completed » arrive en premier, les états antérieurs ensuite.",
    webhooks: [
      {},
      { status: "submitted", delayMs: 200, timestampOffsetMs: -1000 },
      { status: "pending", delayMs: 400, timestampOffsetMs: -2000 },
    ],
  },
  {
    name: "webhook-dropped",
    about: "The first attempt is lost on the way; a retry arrives.",
    about_fr: "Le premier envoi se perd en route ; un nouvel envoi arrive.",
    webhooks: [{ loseFirst: true }],
  },
  {
    name: "webhook-never",
    about: "The payment completes, and no webhook is ever sent.",
    about_fr: "Le paiement aboutit, et aucun webhook n’est jamais envoyé.",
    webhooks: [],
  },
  {
    name: "webhook-before-creation-answer",
    about: "The webhook arrives before the answer to the creation.",
    about_fr: "Le webhook arrive avant la réponse à la création.",
    creation: { afterWebhooks: true },
    moves: { created: [{ status: "completed" }] },
  },
  {
    name: "webhook-during-checkout",
    about: "The webhook arrives while the customer is still on the checkout page.",
    about_fr: "Le webhook arrive pendant que le client est encore sur la page de paiement.",
    moves: { opened: [{ status: "completed" }] },
  },
  {
    name: "signature-wrong",
    about: "The webhook's signature is wrong.",
    about_fr: "La signature du webhook est fausse.",
    webhooks: [{ sign: "wrong" }],
  },
  {
    name: "signature-old-secret",
    about: "The webhook is signed with a secret that was replaced.",
    about_fr: "Le webhook est signé avec un secret qui a été remplacé.",
    webhooks: [{ sign: "old-secret" }],
  },
  {
    name: "signature-missing",
    about: "The webhook carries no signature.",
    about_fr: "Le webhook ne porte pas de signature.",
    webhooks: [{ sign: "missing" }],
  },
  {
    name: "amount-changed",
    about: "The service reports, and signs, another amount.",
    about_fr: "Le service annonce, et signe, un autre montant.",
    webhooks: [{ change: ["amount"] }],
  },
  {
    name: "amount-tampered",
    about: "Somebody on the way changes the amount, after it was signed.",
    about_fr: "Quelqu’un modifie le montant en route, après la signature.",
    webhooks: [{ tamper: ["amount"] }],
  },
  {
    name: "currency-changed",
    about: "The service reports, and signs, another currency.",
    about_fr: "Le service annonce, et signe, une autre devise.",
    webhooks: [{ change: ["currency"] }],
  },
  {
    name: "client-id-of-another",
    about: "The webhook carries the clientId of another payment.",
    about_fr: "Le webhook porte le clientId d’un autre paiement.",
    webhooks: [{ change: ["clientId"] }],
  },
  {
    name: "body-truncated",
    about: "Half of the webhook's body is missing.",
    about_fr: "Il manque la moitié du corps du webhook.",
    webhooks: [{ truncate: true }],
  },
  {
    name: "topic-unknown",
    about: "The webhook has a topic that nobody has heard of, and a status to go with it.",
    about_fr: "Le webhook porte un topic inconnu, et l’état qui va avec.",
    webhooks: [
      { set: { topic: "payment.reviewed", "data.status": "reviewed", "data.captured": false } },
      { delayMs: 200 },
    ],
  },
  {
    name: "status-unknown",
    about: "A status that nobody has heard of is reported before completed.",
    about_fr: "Un état inconnu est annoncé avant « completed ».",
    moves: {
      approved: [
        { status: "verifying", webhook: true },
        { status: "completed", delayMs: 200 },
      ],
    },
  },
  {
    name: "fields-extra",
    about: "The webhook has fields that the document does not name.",
    about_fr: "Le webhook contient des champs que le document ne mentionne pas.",
    webhooks: [{ set: { version: 2, "data.fee": { value: "15", currency: "KMF" }, "data.note": "merci" } }],
  },
  {
    name: "creation-slow",
    about: "The creation is answered after three seconds.",
    about_fr: "La création répond au bout de trois secondes.",
    creation: { delayMs: 3000 },
  },
  {
    name: "creation-hangs",
    about: "The creation is never answered, and makes no payment.",
    about_fr: "La création ne répond jamais, et ne crée rien.",
    creation: { answer: "hang" },
  },
  {
    name: "creation-error",
    about: "The creation is answered 500, and makes no payment.",
    about_fr: "La création répond 500, et ne crée rien.",
    creation: { answer: "error" },
  },
  {
    name: "creation-late",
    about: "The payment exists, but the answer comes after any patience: 30 seconds.",
    about_fr: "Le paiement existe, mais la réponse arrive trop tard : 30 secondes.",
    creation: { delayMs: 30_000 },
  },
  {
    name: "creation-html",
    about: "The creation is answered by a page of some proxy.",
    about_fr: "La création reçoit la page HTML d’un proxy.",
    creation: { answer: "html" },
  },
  {
    name: "creation-reset",
    about: "The payment exists, but the connection breaks before the answer.",
    about_fr: "Le paiement existe, mais la connexion se rompt avant la réponse.",
    creation: { answer: "reset", exists: true },
  },
  {
    name: "token-down",
    about: "Access tokens cannot be had: 503.",
    about_fr: "Impossible d’obtenir un jeton d’accès : 503.",
    token: { answer: "unavailable" },
  },
  {
    name: "token-expired-early",
    about: "Access tokens stop working after a minute, whatever they promise.",
    about_fr: "Les jetons d’accès expirent au bout d’une minute, quoi qu’ils promettent.",
    token: { expiresAfterMs: 60_000 },
  },
  {
    name: "success-without-webhook",
    about: "The browser goes to the success address, but nothing was paid and no webhook comes.",
    about_fr: "Le navigateur va à l’adresse de succès, mais rien n’est payé et aucun webhook n’arrive.",
    moves: { approved: [] },
  },
  {
    name: "canceled-then-paid",
    about: "The customer cancels, and the payment completes all the same, five seconds later.",
    about_fr: "Le client annule, et le paiement aboutit quand même, cinq secondes plus tard.",
    moves: { canceled: [{ status: "canceled" }, { status: "completed", delayMs: 5000 }] },
  },
  {
    name: "paid-twice",
    about: "A canceled payment completes together with the next one of the same amount.",
    about_fr: "Un paiement annulé aboutit en même temps que le suivant du même montant.",
    paidWithNext: true,
  },
  {
    name: "payment-failed",
    about: "The provider refuses the payment.",
    about_fr: "L’opérateur refuse le paiement.",
    moves: { approved: [{ status: "failed", webhook: true }] },
  },
  {
    name: "failed-then-paid",
    about: "The payment fails, and completes all the same, five seconds later.",
    about_fr: "Le paiement échoue, et aboutit quand même, cinq secondes plus tard.",
    moves: {
      approved: [
        { status: "failed", webhook: true },
        { status: "completed", delayMs: 5000 },
      ],
    },
  },
  {
    name: "webhook-replayed",
    about: "The same webhook comes again half an hour later.",
    about_fr: "Le même webhook revient une demi-heure plus tard.",
    webhooks: [{}, { delayMs: 1_800_000 }],
  },
  {
    name: "type-unknown",
    about: "A webhook about something that is no payment comes before the right one.",
    about_fr: "Un webhook sur autre chose qu’un paiement arrive avant le bon.",
    webhooks: [
      { set: { topic: "payout.settled", type: "payout", data: { id: "po_1", status: "settled" } } },
      { delayMs: 200 },
    ],
  },
];

/** A total of this whole amount, plus the scenario's place in the catalogue counted from 1, chooses it. */
export const firstChoosingAmount = 777_000;
