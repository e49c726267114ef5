import { translate } from "../../../pages/language.js";

/** What the overview says. */
export const overviewTranslations = translate({
  title: ["Overview", "Accueil"],
  lead: [
    "A stand-in for the payment service: your shop cannot tell the difference, and no money moves.",
    "Une doublure du service de paiement : votre boutique ne voit pas la différence, et aucun argent ne circule.",
  ],
  forgets: [
    "It keeps everything in memory and forgets it when it stops.",
    "Elle garde tout en mémoire et oublie tout quand elle s’arrête.",
  ],
  lasts: ["It keeps everything in the file", "Elle garde tout dans le fichier"],
  now: ["Right now", "En ce moment"],
  chooseScenario: ["Choose another", "En choisir un autre"],
  flowing: ["Sent as they arise", "Envoyés au fur et à mesure"],
  held: ["Held back", "Retenus"],
  time: ["Time", "Heure"],
  changeTime: ["Put forward", "Avancer"],
  addresses: ["Addresses", "Adresses"],
  tokenUrl: ["Access tokens", "Jetons d’accès"],
  webhookUrls: ["Webhooks go to", "Destinataires des webhooks"],
  noAddress: [
    "No address is registered, so no webhook is sent.",
    "Aucune adresse n’est enregistrée : aucun webhook ne part.",
  ],
  addAddress: ["Add one", "En ajouter une"],
  payments: ["Recent payments", "Paiements récents"],
  allPayments: (count: number) => [`All payments (${count})`, `Tous les paiements (${count})`],
  deliveries: ["Recent webhooks", "Webhooks récents"],
  allDeliveries: (count: number) => [`All deliveries (${count})`, `Tous les envois (${count})`],
});
