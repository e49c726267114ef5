import { translate } from "../../../pages/language.js";

/** What the page about the behaviour says. */
export const behaviourTranslations = translate({
  title: ["Behaviour", "Comportement"],
  lead: [
    "What the sandbox does where the interface document leaves it open, and its clock.",
    "Ce que fait le bac à sable là où le document d’interface laisse le choix, et son horloge.",
  ],
  choices: ["All choices of the sandbox", "Tous les choix du bac à sable"],
  clock: ["Clock", "Horloge"],
  now: ["The sandbox’s time", "L’heure du bac à sable"],
  clockHint: [
    "Put it forward, and everything that becomes due happens: retries, delayed webhooks, tokens that expire.",
    "Avancez-la, et tout ce qui arrive à échéance se produit : nouveaux envois, webhooks retardés, jetons qui expirent.",
  ],
  forward: ["Put the clock forward", "Avancer l’horloge"],
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
    strict: ["Refuse what the document does not allow", "Refuser ce que le document ne permet pas"],
    successStatus: ["Status of the answer", "Code de la réponse"],
    errorBodies: ["Errors are answered", "Forme des erreurs"],
    echoClientId: ["The answer carries clientId", "La réponse porte clientId"],
    readBack: ["Payments can be read back with GET", "Les paiements se relisent avec GET"],
    readBackBare: ["They then stand alone, without data", "Ils sont alors seuls, sans data"],
    statuses: ["Statuses on the way to completed", "États traversés avant « completed »"],
    statusWebhooks: ["A webhook for each of those statuses", "Un webhook pour chacun de ces états"],
    cancelWebhook: ["A cancel sends payment.canceled", "Une annulation envoie payment.canceled"],
    failureWebhook: ["A failure sends payment.failed", "Un échec envoie payment.failed"],
    accessTokenTtlSeconds: ["Lifetime of a token, in seconds", "Durée de vie d’un jeton, en secondes"],
    webhookDelayMs: ["Pause before a webhook, in ms", "Pause avant un webhook, en ms"],
    webhookTimeoutMs: ["Time that the shop has to answer, in ms", "Temps de réponse de la boutique, en ms"],
    retryDelaysMs: ["Pauses before further attempts, in ms", "Pauses avant chaque nouvel envoi, en ms"],
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
