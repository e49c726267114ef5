import { inLanguages } from "../../pages/language.js";

/** The words that every page of the dashboard shares. */
export const frameWords = inLanguages({
  en: {
    sandbox: "Payment sandbox",
    skip: "Skip to content",
    navigation: "Dashboard",
    credentials: "Credentials",
    places: {
      overview: "Overview",
      payments: "Payments",
      developer: "Developer",
      webhooks: "Webhooks",
      scenarios: "Scenarios",
      behaviour: "Behaviour",
      choices: "Not shown",
    },
    unknownTitle: "Nothing here",
    unknownText:
      "A sandbox without a state file forgets everything when it stops; perhaps that has happened.",
  },
  fr: {
    sandbox: "Bac à sable des paiements",
    skip: "Aller au contenu",
    navigation: "Tableau de bord",
    credentials: "Identifiants",
    places: {
      overview: "Accueil",
      payments: "Paiements",
      developer: "Développeur",
      webhooks: "Webhooks",
      scenarios: "Scénarios",
      behaviour: "Comportement",
      choices: "Non précisé",
    },
    unknownTitle: "Rien ici",
    unknownText:
      "Un bac à sable sans fichier d’état oublie tout quand il s’arrête ; c’est peut-être ce qui s’est passé.",
  },
});
