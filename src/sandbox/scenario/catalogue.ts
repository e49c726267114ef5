import { type Scenario } from "./scenario.js";

/** The scenario without any fault. */
export const normal: Scenario = {
  name: "normal",
  about: "Everything works.",
  about_fr: "Tout fonctionne.",
};

/** The scenarios of the catalogue by their names. New ones are added at the end, and the order never changes. */
const faults: Readonly<Record<string, Omit<Scenario, "name">>> = {
  "webhook-delayed": {
    about: "The webhook comes ten seconds late.",
    about_fr: "Le webhook arrive avec dix secondes de retard.",
    webhooks: [{ delayMs: 10_000 }],
  },
  "webhook-doubled": {
    about: "The same webhook comes twice, at the same time.",
    about_fr: "Le même webhook arrive deux fois, en même temps.",
    webhooks: [{ times: 2 }],
  },
  "webhook-reordered": {
    about: "The completed webhook arrives first, and the older statuses follow.",
    about_fr: "« completed » arrive en premier, les états antérieurs ensuite.",
    webhooks: [
      {},
      { status: "submitted", delayMs: 200, timestampOffsetMs: -1000 },
      { status: "pending", delayMs: 400, timestampOffsetMs: -2000 },
    ],
  },
  "webhook-dropped": {
    about: "The first attempt is lost; a retry arrives.",
    about_fr: "Le premier envoi se perd en route ; un nouvel envoi arrive.",
    webhooks: [{ loseFirst: true }],
  },
  "webhook-never": {
    about: "The payment completes, and no webhook is ever sent.",
    about_fr: "Le paiement aboutit, et aucun webhook n’est jamais envoyé.",
    webhooks: [],
  },
  "webhook-before-creation-answer": {
    about: "The webhook arrives before the answer to the creation.",
    about_fr: "Le webhook arrive avant la réponse à la création.",
    creation: { afterWebhooks: true },
    moves: { created: [{ status: "completed" }] },
  },
  "webhook-during-checkout": {
    about: "The webhook arrives while the customer is still on the checkout page.",
    about_fr: "Le webhook arrive pendant que le client est encore sur la page de paiement.",
    moves: { opened: [{ status: "completed" }] },
  },
  "signature-wrong": {
    about: "The webhook's signature is wrong.",
    about_fr: "La signature du webhook est fausse.",
    webhooks: [{ sign: "wrong" }],
  },
  "signature-old-secret": {
    about: "The webhook is signed with a secret that was replaced.",
    about_fr: "Le webhook est signé avec un secret qui a été remplacé.",
    webhooks: [{ sign: "old-secret" }],
  },
  "signature-missing": {
    about: "The webhook carries no signature.",
    about_fr: "Le webhook ne porte pas de signature.",
    webhooks: [{ sign: "missing" }],
  },
  "amount-changed": {
    about: "The service reports, and signs, another amount.",
    about_fr: "Le service annonce, et signe, un autre montant.",
    webhooks: [{ change: ["amount"] }],
  },
  "amount-tampered": {
    about: "The amount is changed in transit, after signing.",
    about_fr: "Le montant est modifié en route, après la signature.",
    webhooks: [{ tamper: ["amount"] }],
  },
  "currency-changed": {
    about: "The service reports, and signs, another currency.",
    about_fr: "Le service annonce, et signe, une autre devise.",
    webhooks: [{ change: ["currency"] }],
  },
  "client-id-of-another": {
    about: "The webhook carries the clientId of another payment.",
    about_fr: "Le webhook porte le clientId d’un autre paiement.",
    webhooks: [{ change: ["clientId"] }],
  },
  "body-truncated": {
    about: "Half of the webhook's body is missing.",
    about_fr: "Il manque la moitié du corps du webhook.",
    webhooks: [{ truncate: true }],
  },
  "topic-unknown": {
    about: "A webhook with an unknown topic and an unknown status arrives before the right one.",
    about_fr: "Un webhook avec un topic et un état inconnus arrive avant le bon.",
    webhooks: [
      { set: { topic: "payment.reviewed", "data.status": "reviewed", "data.captured": false } },
      { delayMs: 200 },
    ],
  },
  "status-unknown": {
    about: "An unknown status is reported before completed.",
    about_fr: "Un état inconnu est annoncé avant « completed ».",
    moves: {
      approved: [
        { status: "verifying", webhook: true },
        { status: "completed", delayMs: 200 },
      ],
    },
  },
  "fields-extra": {
    about: "The webhook has fields that the interface document does not name.",
    about_fr: "Le webhook contient des champs que le document ne mentionne pas.",
    webhooks: [{ set: { version: 2, "data.fee": { value: "15", currency: "KMF" }, "data.note": "merci" } }],
  },
  "creation-slow": {
    about: "The response to the creation takes three seconds.",
    about_fr: "La création répond au bout de trois secondes.",
    creation: { delayMs: 3000 },
  },
  "creation-hangs": {
    about: "The creation gets no response and makes no payment.",
    about_fr: "La création ne répond jamais, et ne crée rien.",
    creation: { answer: "hang" },
  },
  "creation-error": {
    about: "The creation fails with status 500 and makes no payment.",
    about_fr: "La création répond 500, et ne crée rien.",
    creation: { answer: "error" },
  },
  "creation-late": {
    about: "The payment exists, but the response takes 30 seconds, longer than any timeout.",
    about_fr: "Le paiement existe, mais la réponse arrive trop tard : 30 secondes.",
    creation: { delayMs: 30_000 },
  },
  "creation-html": {
    about: "The response to the creation is an HTML page of a proxy.",
    about_fr: "La création reçoit la page HTML d’un proxy.",
    creation: { answer: "html" },
  },
  "creation-reset": {
    about: "The payment exists, but the connection breaks before the response.",
    about_fr: "Le paiement existe, mais la connexion se rompt avant la réponse.",
    creation: { answer: "reset", exists: true },
  },
  "token-down": {
    about: "No access token can be obtained: status 503.",
    about_fr: "Impossible d’obtenir un jeton d’accès : 503.",
    token: { answer: "unavailable" },
  },
  "token-expired-early": {
    about: "Access tokens stop working after a minute, earlier than the response says.",
    about_fr: "Les jetons d’accès expirent au bout d’une minute, plus tôt qu’annoncé.",
    token: { expiresAfterMs: 60_000 },
  },
  "success-without-webhook": {
    about: "The browser goes to the success address, but nothing is paid and no webhook arrives.",
    about_fr: "Le navigateur va à l’adresse de succès, mais rien n’est payé et aucun webhook n’arrive.",
    moves: { approved: [] },
  },
  "canceled-then-paid": {
    about: "The customer cancels, but the payment completes five seconds later.",
    about_fr: "Le client annule, mais le paiement aboutit cinq secondes plus tard.",
    moves: { canceled: [{ status: "canceled" }, { status: "completed", delayMs: 5000 }] },
  },
  "paid-twice": {
    about: "A canceled payment completes when the next one of the same amount completes.",
    about_fr: "Un paiement annulé aboutit en même temps que le suivant du même montant.",
    paidWithNext: true,
  },
  "payment-failed": {
    about: "The provider refuses the payment.",
    about_fr: "L’opérateur refuse le paiement.",
    moves: { approved: [{ status: "failed", webhook: true }] },
  },
  "failed-then-paid": {
    about: "The payment fails, but completes five seconds later.",
    about_fr: "Le paiement échoue, mais aboutit cinq secondes plus tard.",
    moves: {
      approved: [
        { status: "failed", webhook: true },
        { status: "completed", delayMs: 5000 },
      ],
    },
  },
  "webhook-replayed": {
    about: "The same webhook comes again half an hour later.",
    about_fr: "Le même webhook revient une demi-heure plus tard.",
    webhooks: [{}, { delayMs: 1_800_000 }],
  },
  "type-unknown": {
    about: "A webhook that is not about a payment arrives before the right one.",
    about_fr: "Un webhook sur autre chose qu’un paiement arrive avant le bon.",
    webhooks: [
      { set: { topic: "payout.settled", type: "payout", data: { id: "po_1", status: "settled" } } },
      { delayMs: 200 },
    ],
  },
  "paid-other-amount": {
    about: "A payment completes a second after the shop created the next one, of another amount.",
    about_fr: "Un paiement aboutit une seconde après la création du suivant, d’un autre montant.",
    moves: { replaced: [{ status: "completed", delayMs: 1000 }] },
  },
};

/** The scenarios with a fault, in the order of their amounts: a total of 777001 in any currency chooses the first. */
export const catalogue: readonly Scenario[] = Object.entries(faults).map(([name, fault]) => ({
  name,
  ...fault,
}));

/** The total that chooses the first scenario of the catalogue. The next total chooses the next scenario. */
export const firstChoosingAmount = 777_001;
