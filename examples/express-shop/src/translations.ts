import { type Problem } from "./problems.js";

export const shopName = "Soko Bahari";
export const contact = "help@soko-bahari.example";

/** The first language is the default. */
export const languages = ["en", "fr"] as const;
export type Language = (typeof languages)[number];

const en = {
  tagline: "Small good things from the islands, paid by phone.",
  buy: "Buy",
  soldOut: "Sold out",
  piecesLeft: "left",
  order: "Order",
  product: "Product",
  placed: "Placed",
  unpaid: "Not paid yet",
  unpaidText:
    "Pay with the mobile-money provider of your choice. We prepare your order as soon as it is paid.",
  confirming: "Waiting for confirmation",
  confirmingText:
    "You have been to the checkout. As soon as your provider confirms the payment, this page shows it.",
  lookAgain: "Look again",
  canceledText: "The last attempt was not completed. You can try again whenever you like.",
  paid: "Paid",
  paidText: "Thank you! We are preparing your order. Come to the stall with your order number.",
  pay: "Pay",
  payAgain: "Try again",
  toCheckout: "Back to the checkout",
  back: "Back to the market",
  keep: "Keep this address: it is how you find your order again.",
  /** Why a customer could not be sent to the checkout: a title, and what to do. */
  problems: {
    unavailable: [
      "The payment could not be started",
      "The payment service does not answer at the moment. Nothing was charged, and your order is kept.",
    ],
    uncertain: [
      "We do not know yet whether your payment was started",
      "The payment service gave no clear answer. If your phone asks you to confirm a payment for this order, confirm it only once: we see it here too. You can also try again.",
    ],
    refused: [
      "The payment was refused",
      "The payment service does not accept a payment for this order. Nothing was charged. Please ask us.",
    ],
    busy: ["Your payment is being started", "It was asked for twice. Go back to the order in a moment."],
    held: [
      "We are checking your payment",
      "We have received a payment of another amount for this order. Please do not pay again: the shopkeeper is looking at it.",
    ],
    soldOut: ["Sold out", "The last piece was sold to somebody else before you paid. Nothing was charged."],
  } as Record<Exclude<Problem, "alreadyPaid"> | "soldOut", readonly [title: string, message: string]>,
  failure: "Something went wrong in the shop",
  failureText: "Look at your order before you pay again. If you have paid, the payment is not lost.",
  questions: "Questions?",
  toOrder: "Back to the order",
  notFound: "There is nothing here",
  notFoundText: "The address may be incomplete. Look at it again, or start from the market.",
  desk: "The shopkeeper’s page",
  attention: "Attention",
  nothing: "All is well: nothing needs a person.",
  orders: "Orders",
  noOrders: "No orders yet.",
  ledger: "Ledger",
  noLedger: "No payments yet. Each paid order has one row here, however often its webhook came.",
};

export type Translations = typeof en;

const fr: Translations = {
  tagline: "Les bonnes petites choses des îles, payées par téléphone.",
  buy: "Acheter",
  soldOut: "Épuisé",
  piecesLeft: "en stock",
  order: "Commande",
  product: "Article",
  placed: "Passée le",
  unpaid: "Pas encore payée",
  unpaidText:
    "Payez avec l’opérateur mobile de votre choix. Nous préparons votre commande dès qu’elle est payée.",
  confirming: "En attente de confirmation",
  confirmingText:
    "Vous êtes passé par la page de paiement. Dès que votre opérateur confirme, cette page le dit.",
  lookAgain: "Regarder encore",
  canceledText: "Le dernier essai n’a pas abouti. Vous pouvez réessayer quand vous voulez.",
  paid: "Payée",
  paidText: "Merci ! Nous préparons votre commande. Passez au stand avec votre numéro de commande.",
  pay: "Payer",
  payAgain: "Réessayer",
  toCheckout: "Retour au paiement",
  back: "Retour au marché",
  keep: "Gardez cette adresse : c’est ainsi que vous retrouverez votre commande.",
  problems: {
    unavailable: [
      "Le paiement n’a pas pu commencer",
      "Le service de paiement ne répond pas pour le moment. Rien n’a été débité et votre commande est conservée.",
    ],
    uncertain: [
      "Nous ne savons pas encore si votre paiement a commencé",
      "Le service de paiement n’a pas répondu clairement. Si votre téléphone vous demande de valider un paiement pour cette commande, validez-le une seule fois : nous le verrons ici. Vous pouvez aussi réessayer.",
    ],
    refused: [
      "Le paiement a été refusé",
      "Le service de paiement n’accepte pas de paiement pour cette commande. Rien n’a été débité. Écrivez-nous.",
    ],
    busy: [
      "Votre paiement est en train de commencer",
      "Vous l’avez lancé deux fois. Revenez à la commande dans un instant.",
    ],
    held: [
      "Nous vérifions votre paiement",
      "Nous avons reçu un paiement d’un autre montant pour cette commande. Ne payez pas une seconde fois : le marchand s’en occupe.",
    ],
    soldOut: ["Épuisé", "La dernière pièce a été vendue avant votre paiement. Rien n’a été débité."],
  },
  failure: "Quelque chose n’a pas marché dans la boutique",
  failureText:
    "Regardez votre commande avant de payer à nouveau. Si vous avez payé, le paiement n’est pas perdu.",
  questions: "Des questions ?",
  toOrder: "Retour à la commande",
  notFound: "Il n’y a rien ici",
  notFoundText: "L’adresse est peut-être incomplète. Vérifiez-la, ou repartez du marché.",
  desk: "Le bureau du marchand",
  attention: "À vérifier",
  nothing: "Tout va bien : rien à vérifier.",
  orders: "Commandes",
  noOrders: "Pas encore de commande.",
  ledger: "Livre de caisse",
  noLedger: "Pas encore de paiement. Chaque commande payée a ici une seule ligne.",
};

export const translations: Record<Language, Translations> = { en, fr };

/** Explanations of the kit's events for the shopkeeper. */
export const attentionTexts: Record<string, Record<Language, string>> = {
  "payment.mismatched": {
    en: "A signed message disagrees with the order. Nothing was booked.",
    fr: "Un message signé contredit la commande. Rien n’a été enregistré.",
  },
  "payment.paid_twice": {
    en: "The customer paid this order twice. Refund one payment.",
    fr: "Le client a payé deux fois. Remboursez un des paiements.",
  },
  "payment.paid_other_amount": {
    en: "The customer paid an earlier amount. Accept it or refund it. The order is not booked.",
    fr: "Le client a payé un ancien montant. Acceptez-le ou remboursez-le. La commande n’est pas enregistrée.",
  },
  "payment.paid_late": {
    en: "Paid after the attempt was given up. The order is booked.",
    fr: "Payée après l’abandon de l’essai. La commande est enregistrée.",
  },
  "payment.overdue": {
    en: "No news about this payment for a day.",
    fr: "Aucune nouvelle de ce paiement depuis un jour.",
  },
  "payment.unmatched": {
    en: "A payment that this shop does not know.",
    fr: "Un paiement que cette boutique ne connaît pas.",
  },
  "webhook.inadmissible": {
    en: "A signed message that cannot be read.",
    fr: "Un message signé illisible.",
  },
  "order.sold_out": {
    en: "Paid after the last piece was sold. Get another one, or refund the payment.",
    fr: "Payée après la vente de la dernière pièce. Trouvez-en une autre, ou remboursez.",
  },
  "dispatch.dead": {
    en: "Something could not be booked after many tries.",
    fr: "Quelque chose n’a pas pu être enregistré, malgré de nombreux essais.",
  },
};
