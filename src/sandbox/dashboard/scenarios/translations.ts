import { translate } from "../../../pages/language.js";

/** What the page about scenarios says. */
export const scenariosTranslations = translate({
  title: ["Scenarios", "Scénarios"],
  lead: [
    "What payments go through. Choose one for all that follow; or let a single payment ask for it, by its amount or by the end of its clientId.",
    "Ce que traversent les paiements. Choisissez-en un pour tous ceux qui suivent ; ou laissez un seul paiement le demander, par son montant ou par la fin de son clientId.",
  ],
  current: ["In use", "En cours"],
  use: ["Use", "Choisir"],
  backToNormal: ["Back to normal", "Revenir à la normale"],
  groups: {
    own: ["Your own", "Les vôtres"],
    usual: ["The usual", "L’ordinaire"],
    webhooks: ["Webhooks", "Webhooks"],
    moves: ["The payment’s way", "Le parcours du paiement"],
    creation: ["Creating a payment", "Création d’un paiement"],
    token: ["Access tokens", "Jetons d’accès"],
  },
  random: [
    "One of the sandbox’s for each payment, by chance; repeatable where a seed was given.",
    "L’un de ceux du bac à sable pour chaque paiement, au hasard ; reproductible avec une graine.",
  ],
  amount: ["amount", "montant"],
  clientId: ["clientId ending in", "clientId finissant par"],
  add: ["Add your own", "Ajouter le vôtre"],
  addLead: [
    "A scenario is plain data; docs/sandbox.md describes its parts. A list adds several at once.",
    "Un scénario est fait de simples données ; docs/sandbox.md en décrit les parties. Une liste en ajoute plusieurs à la fois.",
  ],
  json: ["Scenario as JSON", "Scénario en JSON"],
  file: ["Or choose a file", "Ou choisissez un fichier"],
  useIt: ["Use it from now on", "L’utiliser dès maintenant"],
  addButton: ["Add", "Ajouter"],
  done: {
    used: [
      "Payments go through this scenario from now on.",
      "Les paiements traversent désormais ce scénario.",
    ],
    added: ["The scenario is known from now on.", "Le scénario est désormais connu."],
  },
});
