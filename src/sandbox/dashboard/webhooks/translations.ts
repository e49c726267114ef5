import { translate } from "../../../pages/language.js";

/** What the page about webhooks says. */
export const webhooksTranslations = translate({
  title: ["Webhooks", "Webhooks"],
  lead: [
    "Every registered address gets a signed POST when the status of a payment changes.",
    "Chaque adresse enregistrée reçoit un POST signé quand l’état d’un paiement change.",
  ],
  addresses: ["Addresses", "Adresses"],
  noAddresses: ["No address is registered", "Aucune adresse n’est enregistrée"],
  noAddressesText: ["Your shop receives no webhook.", "Votre boutique n’en reçoit aucun."],
  added: ["added", "ajoutée"],
  try: ["Try", "Essayer"],
  remove: ["Remove", "Retirer"],
  address: ["New address", "Nouvelle adresse"],
  addressHint: [
    "Your shop’s public endpoint, such as http://localhost:3000/payments/webhook",
    "Le point d’entrée public de votre boutique, par exemple http://localhost:3000/payments/webhook",
  ],
  add: ["Add", "Ajouter"],
  tried: (status: number, took: string) => [
    `The address answered ${status}, in ${took}.`,
    `L’adresse a répondu ${status}, en ${took}.`,
  ],
  triedInVain: (error: string) => [`The address did not answer: ${error}.`, `Pas de réponse : ${error}.`],
  see: ["See the exchange", "Voir l’échange"],
  signing: ["Signing", "Signature"],
  signingLead: ["How your shop recognizes these webhooks.", "Comment votre boutique reconnaît ces webhooks."],
  scheme: ["Scheme", "Schéma"],
  schemes: {
    hmac: ["HMAC over the raw body, in hexadecimal", "HMAC du corps brut, en hexadécimal"],
    fields: [
      "HMAC over fields of the body joined by commas, in hexadecimal",
      "HMAC de champs du corps séparés par des virgules, en hexadécimal",
    ],
    custom: [
      "Given by the program that started this sandbox; its secret is not known here",
      "Donné par le programme qui a démarré ce bac à sable ; son secret n’est pas connu ici",
    ],
  },
  algorithm: ["Algorithm", "Algorithme"],
  header: ["Header", "En-tête"],
  fields: ["Signed fields", "Champs signés"],
  secret: ["Secret", "Secret"],
  previousSecret: ["Previous secret", "Secret précédent"],
  rotate: ["Rotate the secret", "Changer le secret"],
  rotateHint: [
    "The new secret signs from then on. Your shop should accept both for a while, so that it refuses no webhook on its way.",
    "Le nouveau secret signe à partir de là. Votre boutique doit accepter les deux un moment, pour ne refuser aucun webhook en route.",
  ],
  hold: ["Holding back", "Retenue"],
  flowing: ["Webhooks are sent when payments change.", "Les webhooks partent quand les paiements changent."],
  held: ["Webhooks are held back until you release them.", "Webhooks retenus jusqu’à leur libération."],
  holdHint: [
    "Hold them back to look at your shop’s pages before the confirmation arrives.",
    "Retenez-les pour voir les pages de votre boutique avant que la confirmation n’arrive.",
  ],
  deliveries: ["Deliveries", "Envois"],
  count: (count: number) => [
    count === 1 ? "1 attempt, newest first." : `${count} attempts, newest first.`,
    count <= 1 ? `${count} envoi.` : `${count} envois, les plus récents d’abord.`,
  ],
  done: {
    added: ["The address is registered.", "L’adresse est enregistrée."],
    removed: ["The address gets no more webhooks.", "L’adresse ne reçoit plus de webhooks."],
    rotated: [
      "A new secret signs from now on. The previous one is shown below it.",
      "Un nouveau secret signe désormais. Le précédent est affiché dessous.",
    ],
  },
});

/** What the page of a delivery says. */
export const deliveryTranslations = translate({
  again: ["Send again", "Renvoyer"],
  againHint: ["The same bytes, signature and address.", "Les mêmes octets, signature et adresse."],
  facts: ["Delivery", "Envoi"],
  names: {
    url: ["Address", "Adresse"],
    at: ["Sent", "Envoyé"],
    duration: ["Answered after", "Réponse après"],
    attempt: ["Attempt", "Envoi n°"],
    payment: ["Payment", "Paiement"],
    id: ["Id", "Identifiant"],
  },
  noPayment: ["none: the address was tried", "aucun : l’adresse a été essayée"],
  request: ["Request", "Demande"],
  response: ["Response", "Réponse"],
  status: ["Status", "État"],
  noAnswer: ["There was no answer", "Il n’y a pas eu de réponse"],
  headers: ["Headers", "En-têtes"],
  body: ["Body", "Corps"],
  empty: ["empty", "vide"],
  raw: ["As it was sent", "Tel qu’il a été envoyé"],
  unreadable: [
    "This body cannot be read as JSON; it is shown as it was sent.",
    "Ce corps ne se lit pas comme du JSON ; il est affiché tel qu’il a été envoyé.",
  ],
  done: { again: ["Sent once more. This is the new delivery.", "Renvoyé. Voici le nouvel envoi."] },
});
