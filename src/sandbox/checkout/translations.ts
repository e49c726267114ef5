import { translate } from "../../pages/language.js";

/** The translations of the pages for customers. */
export const checkoutTranslations = translate({
  payTo: ["Payment to", "Paiement à"],
  chooseProvider: ["Choose how to pay", "Choisissez votre moyen de paiement"],
  chooseFirst: ["Choose a provider first, then pay.", "Choisissez d’abord un opérateur, puis payez."],
  pay: (amount: string) => [`Pay ${amount}`, `Payer ${amount}`],
  cancel: ["Cancel", "Annuler"],
  payment: ["Payment", "Paiement"],
  back: ["Back to", "Retour à"],
  notices: {
    completed: {
      title: ["Already paid", "Déjà payé"],
      message: [
        "This payment is complete. There is nothing more to do here.",
        "Ce paiement est terminé. Il n’y a plus rien à faire ici.",
      ],
    },
    canceled: {
      title: ["Payment canceled", "Paiement annulé"],
      message: [
        "This payment was canceled. To pay after all, start again from the shop.",
        "Ce paiement a été annulé. Pour payer malgré tout, recommencez depuis la boutique.",
      ],
    },
    failed: {
      title: ["Payment failed", "Paiement refusé"],
      message: [
        "The provider refused this payment. To pay after all, start again from the shop.",
        "L’opérateur a refusé ce paiement. Pour payer malgré tout, recommencez depuis la boutique.",
      ],
    },
    underWay: {
      title: ["Payment under way", "Paiement en cours"],
      message: [
        "You have approved this payment, and the provider is working on it.",
        "Vous avez approuvé ce paiement, et l’opérateur s’en occupe.",
      ],
    },
    unknown: {
      title: ["Payment not found", "Paiement introuvable"],
      message: [
        "There is no payment at this address. A restart of the sandbox forgets its payments.",
        "Aucun paiement à cette adresse. Le bac à sable oublie ses paiements quand il redémarre.",
      ],
    },
    unreadable: {
      title: ["Not understood", "Demande illisible"],
      message: [
        "This request could not be read. Go back and try again.",
        "Cette demande n’a pas pu être lue. Revenez en arrière et réessayez.",
      ],
    },
  },
  home: ["To the sandbox’s dashboard", "Vers le tableau de bord du bac à sable"],
});
