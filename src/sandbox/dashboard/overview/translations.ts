import { translate } from "../../../pages/language.js";

/** What the overview says. */
export const overviewTranslations = translate({
  title: ["Overview", "Accueil"],
  lead: [
    "An emulated payment service. Your shop uses it like the real one, and no money moves.",
    "Un service de paiement émulé. Votre boutique s’en sert comme du vrai, et aucun argent ne circule.",
  ],
  forgets: [
    "It keeps everything in memory and forgets it when it stops.",
    "Il garde tout en mémoire et oublie tout quand il s’arrête.",
  ],
  lasts: ["It keeps everything in the file", "Il garde tout dans le fichier"],
  now: ["Right now", "En ce moment"],
  chooseScenario: ["Choose another", "En choisir un autre"],
  flowing: ["Sent when payments change", "Envoyés quand les paiements changent"],
  held: ["Held back", "Retenus"],
  time: ["Time", "Heure"],
  changeTime: ["Put forward", "Avancer"],
  addresses: ["Addresses", "Adresses"],
  tokenUrl: ["Access tokens", "Jetons d’accès"],
  webhookUrls: ["Webhooks go to", "Destinataires des webhooks"],
  noAddress: ["No address: no webhook is sent.", "Aucune adresse : aucun webhook n’est envoyé."],
  addAddress: ["Add one", "En ajouter une"],
  payments: ["Recent payments", "Paiements récents"],
  allPayments: (count: number) => [`All payments (${count})`, `Tous les paiements (${count})`],
  deliveries: ["Recent webhooks", "Webhooks récents"],
  allDeliveries: (count: number) => [`All deliveries (${count})`, `Tous les envois (${count})`],
});
