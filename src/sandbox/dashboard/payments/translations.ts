import { translate } from "../../../pages/language.js";

/** What the pages about payments say. */
export const paymentsTranslations = translate({
  title: ["Payments", "Paiements"],
  lead: (count: number) => [
    count === 1 ? "1 payment, newest first." : `${count} payments, newest first.`,
    count <= 1 ? `${count} paiement.` : `${count} paiements, les plus récents d’abord.`,
  ],
  payment: ["Payment", "Paiement"],
  moves: ["What happens next", "La suite"],
  movesLead: [
    "Do what the customer, or the provider, would do now.",
    "Faites ce que le client, ou l’opérateur, ferait maintenant.",
  ],
  checkout: ["Open the checkout page", "Ouvrir la page de paiement"],
  provider: ["Provider", "Opérateur"],
  pay: ["Pay", "Payer"],
  cancel: ["Cancel", "Annuler"],
  fail: ["Fail", "Faire échouer"],
  payAnyway: ["A real service may let it be paid after all.", "Un vrai service peut encore laisser payer."],
  complete: [
    "The payment is completed; nothing leaves that.",
    "Le paiement est terminé ; plus rien ne le change.",
  ],
  held: ["Webhooks are held back.", "Les webhooks sont retenus."],
  toHold: ["Release them", "Les libérer"],
  scenarioHint: [
    "What this payment goes through, from now on.",
    "Ce que ce paiement traverse, à partir de maintenant.",
  ],
  choose: ["Choose", "Choisir"],
  facts: ["Details", "Détails"],
  names: {
    status: ["Status", "État"],
    captured: ["Captured", "Encaissé"],
    amount: ["Amount", "Montant"],
    id: ["Id", "Identifiant"],
    clientId: ["clientId", "clientId"],
    createdAt: ["Created", "Créé"],
    submittedAt: ["Approved by the customer", "Approuvé par le client"],
    providerId: ["Provider’s reference", "Référence de l’opérateur"],
    source: ["Source", "Source"],
    checkout: ["Checkout page", "Page de paiement"],
    successUrl: ["Success address", "Adresse de succès"],
    cancelUrl: ["Cancel address", "Adresse d’annulation"],
  },
  yes: ["yes", "oui"],
  no: ["no", "non"],
  absent: ["not yet", "pas encore"],
  webhooks: ["Its webhooks", "Ses webhooks"],
  webhooksLive: (count: number) => [
    `Webhook deliveries of this payment: ${count}`,
    `Envois de webhooks pour ce paiement : ${count}`,
  ],
  noWebhooks: ["No webhook was sent about it yet", "Aucun webhook envoyé à son sujet pour l’instant"],
  noAddress: [
    "No address is registered to send one to.",
    "Aucune adresse n’est enregistrée pour en recevoir.",
  ],
  addAddress: ["Add an address", "Ajouter une adresse"],
  done: {
    pay: ["Paid, as if the customer had approved.", "Payé, comme si le client avait approuvé."],
    cancel: ["Canceled, as if the customer had.", "Annulé, comme si le client l’avait fait."],
    fail: ["Failed, as if the provider had refused.", "Échoué, comme si l’opérateur avait refusé."],
    scenario: [
      "The payment goes through this scenario from now on.",
      "Le paiement traverse désormais ce scénario.",
    ],
  },
});
