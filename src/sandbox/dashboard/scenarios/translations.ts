import { translate } from "../../../pages/language.js";

/** What the page about scenarios says. */
export const scenariosTranslations = translate({
  title: ["Scenarios", "Scénarios"],
  lead: [
    "A scenario decides what happens to a payment. Choose one for all new payments, or let one payment select it by its amount or by the end of its clientId.",
    "Un scénario décide de ce qui arrive à un paiement. Choisissez-en un pour tous les nouveaux paiements, ou laissez un paiement le demander par son montant ou par la fin de son clientId.",
  ],
  current: ["In use", "En cours"],
  use: ["Use", "Choisir"],
  backToNormal: ["Back to normal", "Revenir à la normale"],
  groups: {
    own: ["Your own", "Les vôtres"],
    usual: ["Normal and random", "Normal et aléatoire"],
    webhooks: ["Webhooks", "Webhooks"],
    moves: ["Course of the payment", "Le parcours du paiement"],
    creation: ["Creating a payment", "Création d’un paiement"],
    token: ["Access tokens", "Jetons d’accès"],
  },
  random: [
    "A random scenario of the sandbox for each payment. With a seed, the order is repeatable.",
    "Un scénario du bac à sable au hasard pour chaque paiement. Avec une graine, l’ordre est reproductible.",
  ],
  amount: ["amount", "montant"],
  clientId: ["clientId ending in", "clientId finissant par"],
  add: ["Add your own", "Ajouter le vôtre"],
  addLead: [
    "A scenario is a JSON object; docs/sandbox.md describes its fields. A list adds several scenarios.",
    "Un scénario est un objet JSON ; docs/sandbox.md en décrit les champs. Une liste ajoute plusieurs scénarios.",
  ],
  json: ["Scenario as JSON", "Scénario en JSON"],
  file: ["Or choose a file", "Ou choisissez un fichier"],
  useIt: ["Use it from now on", "L’utiliser dès maintenant"],
  addButton: ["Add", "Ajouter"],
  done: {
    used: ["New payments use this scenario.", "Les nouveaux paiements suivent ce scénario."],
    added: ["The scenario was added.", "Le scénario a été ajouté."],
  },
});
