import { translate } from "../../../pages/language.js";

/** What the page about the behaviour says. */
export const behaviourTranslations = translate({
  title: ["Behaviour", "Comportement"],
  lead: [
    "What the interface document leaves open, and the sandbox’s time.",
    "Ce que le document d’interface laisse ouvert, et l’heure du bac à sable.",
  ],
  choices: ["Everything that it had to choose", "Tout ce qu’il a dû choisir"],
  clock: ["Clock", "Horloge"],
  now: ["The sandbox’s time", "L’heure du bac à sable"],
  clockHint: [
    "Put it forward, and what falls due on the way is done: retries, late webhooks, tokens that expire.",
    "Avancez-la, et ce qui arrive à échéance se fait : nouveaux envois, webhooks en retard, jetons qui expirent.",
  ],
  forward: ["Put the clock forward", "Avancer l’horloge"],
  steps: { minutes: ["1 minute", "1 minute"], hours: ["1 hour", "1 heure"], days: ["1 day", "1 jour"] },
  by: ["By", "De"],
  unit: ["Unit", "Unité"],
  units: {
    seconds: ["seconds", "secondes"],
    minutes: ["minutes", "minutes"],
    hours: ["hours", "heures"],
    days: ["days", "jours"],
  },
  advance: ["Put forward", "Avancer"],
  seed: ["Seed", "Graine"],
  noSeed: ["none: ids differ at every start", "aucune : les identifiants changent à chaque démarrage"],
  settingsTitle: ["Settings", "Réglages"],
  settings: {
    strict: [
      "Refuse what the document does not allow, with a message that teaches",
      "Refuser ce que le document ne permet pas, avec un message qui instruit",
    ],
    successStatus: ["Status of the answer", "Code de la réponse"],
    errorBodies: ["Errors are answered", "Forme des erreurs"],
    echoClientId: ["The answer carries clientId", "La réponse porte clientId"],
    readBack: ["Payments can be read back with GET", "Les paiements se relisent avec GET"],
    statuses: ["Statuses on the way to completed", "États traversés avant « completed »"],
    statusWebhooks: ["A webhook tells of each of those", "Un webhook annonce chacun d’eux"],
    cancelWebhook: ["A cancel sends payment.canceled", "Une annulation envoie payment.canceled"],
    failureWebhook: ["A failure sends payment.failed", "Un échec envoie payment.failed"],
    accessTokenTtlSeconds: [
      "Lifetime of an access token, in seconds",
      "Durée de vie d’un jeton d’accès, en secondes",
    ],
    webhookDelayMs: ["Pause before a webhook, in milliseconds", "Pause avant un webhook, en millisecondes"],
    webhookTimeoutMs: [
      "Time that the shop has to answer, in milliseconds",
      "Temps de réponse laissé à la boutique, en millisecondes",
    ],
    retryDelaysMs: [
      "Pauses before each further attempt, in milliseconds",
      "Pauses avant chaque nouvel envoi, en millisecondes",
    ],
  },
  groups: {
    creation: ["Creating a payment", "Création d’un paiement"],
    statuses: ["Statuses", "États"],
    webhooks: ["Webhooks and tokens", "Webhooks et jetons"],
  },
  errorForms: {
    problem: ["as JSON", "en JSON"],
    bare: ["without a body", "sans corps"],
    html: ["as a page", "par une page"],
  },
  retryHint: ["Separated by commas; empty sends once.", "Séparées par des virgules ; vide, un seul envoi."],
  save: ["Save", "Enregistrer"],
  done: {
    saved: ["The settings are saved.", "Les réglages sont enregistrés."],
    forward: ["The clock was put forward.", "L’horloge a été avancée."],
  },
});
