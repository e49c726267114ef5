import { type ReturnState } from "../../checkout/handle-return.js";

/** The languages of the kit's pages; the first is the one for everybody else. */
export const languages = ["en", "fr"] as const;

/** A language of the kit's pages. */
export type Language = (typeof languages)[number];

interface Text {
  title: string;
  message: string;
}

interface Texts extends Record<ReturnState, Text> {
  notFound: Text;
  unavailable: Text;
  amount: string;
  reference: string;
  back: string;
  reload: string;
}

/** Everything that the kit's pages say. They never claim more than the store knows. */
export const texts: Readonly<Record<Language, Texts>> = {
  en: {
    confirming: {
      title: "Confirming your payment",
      message: "This usually takes a few seconds. The page updates by itself; you can also close it.",
    },
    paid: { title: "Payment received", message: "Thank you. Your payment is confirmed." },
    canceled: {
      title: "Payment canceled",
      message: "Nothing was confirmed. You can go back to the shop and try again.",
    },
    failed: {
      title: "Payment not completed",
      message: "The payment did not go through. You can go back to the shop and try again.",
    },
    notFound: {
      title: "Page not found",
      message:
        "This address is not valid, or no longer. If you have paid, the payment service tells the shop directly.",
    },
    unavailable: {
      title: "One moment, please",
      message:
        "The shop cannot look your payment up right now. Nothing is lost; the page tries again by itself.",
    },
    amount: "Amount",
    reference: "Order",
    back: "Back to the shop",
    reload: "Look again",
  },
  fr: {
    confirming: {
      title: "Confirmation du paiement en cours",
      message:
        "Cela prend en général quelques secondes. La page se met à jour toute seule ; vous pouvez aussi la fermer.",
    },
    paid: { title: "Paiement reçu", message: "Merci. Votre paiement est confirmé." },
    canceled: {
      title: "Paiement annulé",
      message: "Rien n’a été confirmé. Vous pouvez revenir à la boutique et réessayer.",
    },
    failed: {
      title: "Paiement non abouti",
      message: "Le paiement n’a pas abouti. Vous pouvez revenir à la boutique et réessayer.",
    },
    notFound: {
      title: "Page introuvable",
      message:
        "Cette adresse n’est pas valable, ou ne l’est plus. Si vous avez payé, le service de paiement en informe directement la boutique.",
    },
    unavailable: {
      title: "Un instant, s’il vous plaît",
      message:
        "La boutique ne peut pas consulter votre paiement pour le moment. Rien n’est perdu ; la page réessaie toute seule.",
    },
    amount: "Montant",
    reference: "Commande",
    back: "Retour à la boutique",
    reload: "Vérifier à nouveau",
  },
};
