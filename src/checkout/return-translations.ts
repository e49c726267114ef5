import { type Language, translate } from "../pages/language.js";

/** The translations of the return pages. `{order}` becomes the order's number. */
export const returnTranslations = translate({
  confirming: {
    title: ["Confirming your payment", "Confirmation du paiement en cours"],
    message: ["This usually takes a few seconds.", "Cela prend en général quelques secondes."],
  },
  delayed: {
    title: ["This takes longer than usual", "Cela prend plus de temps que d’habitude"],
    message: [
      "If you approved the payment, you need not pay again. Keep your order number: {order}.",
      "Si vous avez validé le paiement, inutile de payer à nouveau. Conservez votre numéro de commande : {order}.",
    ],
  },
  claimed: {
    title: ["Thank you, we have your number", "Merci, nous avons votre numéro"],
    message: [
      "The shop compares it with the payment service. You need not pay again. Keep your order number: {order}.",
      "La boutique le compare avec le service de paiement. Inutile de payer à nouveau. Conservez votre numéro de commande : {order}.",
    ],
  },
  mismatch: {
    title: ["The shop is checking your payment", "La boutique vérifie votre paiement"],
    message: [
      "The payment service reported something that does not fit your order, so a person will look at it. Please do not pay again. Keep your order number: {order}.",
      "Le service de paiement a signalé quelque chose qui ne correspond pas à votre commande ; une personne va s’en occuper. Ne payez pas à nouveau. Conservez votre numéro de commande : {order}.",
    ],
  },
  refunded: {
    title: ["Payment returned", "Paiement remboursé"],
    message: [
      "The shop returned the money of this payment. You can go back to the shop and try again.",
      "La boutique a remboursé ce paiement. Vous pouvez revenir à la boutique et réessayer.",
    ],
  },
  paid: {
    title: ["Payment received", "Paiement reçu"],
    message: ["Thank you. Your payment is confirmed.", "Merci. Votre paiement est confirmé."],
  },
  canceled: {
    title: ["Payment canceled", "Paiement annulé"],
    message: [
      "Nothing was confirmed. You can go back to the shop and try again.",
      "Rien n’a été confirmé. Vous pouvez revenir à la boutique et réessayer.",
    ],
  },
  failed: {
    title: ["Payment not completed", "Paiement non abouti"],
    message: [
      "The payment did not go through. You can go back to the shop and try again.",
      "Le paiement n’a pas abouti. Vous pouvez revenir à la boutique et réessayer.",
    ],
  },
  notFound: {
    title: ["Page not found", "Page introuvable"],
    message: [
      "This address is not valid, or no longer. If you have paid, the payment service tells the shop directly.",
      "Cette adresse n’est pas valable, ou ne l’est plus. Si vous avez payé, le service de paiement en informe directement la boutique.",
    ],
  },
  unavailable: {
    title: ["One moment, please", "Un instant, s’il vous plaît"],
    message: [
      "The shop cannot look your payment up right now. Nothing is lost; the page tries again by itself.",
      "La boutique ne peut pas consulter votre paiement pour le moment. Rien n’est perdu ; la page réessaie toute seule.",
    ],
  },
  live: [
    "The page updates by itself; you can also close it.",
    "La page se met à jour toute seule ; vous pouvez aussi la fermer.",
  ],
  ended: ["This page no longer updates by itself.", "Cette page ne se met plus à jour toute seule."],
  /** The form in which a customer who has paid gives the number of the payment. */
  claim: {
    offer: ["I have paid", "J’ai payé"],
    correct: ["Correct the number", "Corriger le numéro"],
    title: ["Have you paid?", "Vous avez payé ?"],
    message: [
      "Give the shop the number of your payment, so that a person can find it. The shop checks it with the payment service.",
      "Donnez à la boutique le numéro de votre paiement, pour qu’une personne puisse le retrouver. La boutique le vérifie auprès du service de paiement.",
    ],
    number: ["Number from the SMS or the receipt", "Numéro du SMS ou du reçu"],
    send: ["Send", "Envoyer"],
    back: ["Go back", "Retour"],
    invalid: [
      "Please write 4 to 40 letters and digits, as they stand in the SMS or on the receipt.",
      "Écrivez 4 à 40 lettres et chiffres, comme dans le SMS ou sur le reçu.",
    ],
    wait: [
      "Too many tries in a short time. Please try again in a minute.",
      "Trop d’essais en peu de temps. Réessayez dans une minute.",
    ],
  },
  contact: ["Questions?", "Des questions ?"],
  amount: ["Amount", "Montant"],
  reference: ["Order", "Commande"],
  receipt: ["Receipt number", "Numéro de reçu"],
  payAgain: ["Pay again", "Payer à nouveau"],
  order: ["Your order", "Votre commande"],
  back: ["Back to the shop", "Retour à la boutique"],
  reload: ["Look again", "Vérifier à nouveau"],
});

/** All translations of the return pages in one language: the keys of `returnTranslations`. */
export type ReturnTranslations = (typeof returnTranslations)[Language];

/** The translations that the merchant adds or replaces, by language code, such as `sw`. */
export type MoreTranslations = Readonly<Record<string, ReturnTranslations>>;

/** Returns the translations of a language: the merchant's own, or the kit's. */
export function translationsIn(language: string, more: MoreTranslations | undefined): ReturnTranslations {
  return more?.[language] ?? returnTranslations[language as Language];
}
