import { type SandboxSettings } from "../../state/settings.js";
import { type english } from "./choices-english.js";

const forms: Record<SandboxSettings["errorBodies"], string> = {
  problem: "en JSON : status, title, detail, en anglais",
  bare: "sans corps",
  html: "par une page",
};

/** The same in French; a choice that is missing here does not compile. */
export const french: typeof english = {
  operations: {
    notShown: "Opérations autres que la création d’un paiement",
    choice: ({ settings }) =>
      settings.readBack
        ? "GET /v1/payments/{id} et GET /v1/payments répondent, car l’option readBack est active."
        : "Aucune. L’option readBack active GET /v1/payments/{id} et GET /v1/payments.",
  },
  id: { notShown: "Format de l’identifiant du paiement", choice: () => "24 chiffres hexadécimaux." },
  statuses: {
    notShown: "États autres que pending et completed",
    choice: ({ settings }) => {
      const onTheWay = settings.statuses.map((status) => ` ; ${status}, en chemin`).join("");
      return `canceled, quand le client a appuyé sur Annuler ; failed, quand l’opérateur refuse${onTheWay}. L’option statuses ajoute init, submitted, approved et captured.`;
    },
  },
  clientId: {
    notShown: "Longueur, caractères et unicité de clientId",
    choice: ({ settings }) =>
      `1 à 255 caractères sans caractère de contrôle ; ${settings.strict ? "utilisé une seule fois dans la vie du bac à sable" : "s’il revient, il crée un second paiement, car l’option strict est inactive"}.`,
  },
  amounts: {
    notShown: "Devises permises ; précision et bornes du montant",
    choice: ({ settings }) =>
      `${settings.strict ? "Les codes de l’ISO 4217" : "Trois lettres quelconques"}. Jusqu’à 16 chiffres et 4 décimales, au-dessus de zéro ; gardé tel qu’il a été écrit.`,
  },
  source: {
    notShown: "Valeurs de source, format de providerId",
    choice: ({ sources }) =>
      `source est l’un de ${sources} ; providerId est la source, un tiret et 12 chiffres hexadécimaux.`,
  },
  cancellation: {
    notShown: "L’état après une annulation, et tout autre changement",
    choice: () =>
      "canceled est final sur la page de paiement. Le tableau de bord, ou un test avec sandbox.pay(), peut quand même terminer un tel paiement, car un vrai service le pourrait.",
  },
  successStatus: {
    notShown: "Code de succès de la création",
    choice: ({ settings }) =>
      `${settings.successStatus} ; l’option successStatus choisit entre 200, 201 et 202.`,
  },
  callbacks: {
    notShown: "Paramètres et en-têtes des retours",
    choice: () =>
      "Aucun. Le navigateur est envoyé, par 303, exactement à l’adresse que le marchand a donnée.",
  },
  registration: {
    notShown: "Une adresse d’enregistrement pour les webhooks",
    choice: ({ allowRemote }) =>
      `Le tableau de bord, l’option webhookUrls et sandbox.registerWebhook() ; ${allowRemote ? "toute adresse" : "adresses de cette machine seulement"}.`,
  },
  tokens: {
    notShown: "Comment s’obtient le jeton d’accès",
    choice: ({ settings }) =>
      `POST /oauth/token, identifiants de client d’OAuth 2, dans le formulaire ou par HTTP Basic ; valable ${settings.accessTokenTtlSeconds} s.`,
  },
  signature: {
    notShown: "Algorithme, contenu signé et clé de la signature",
    choice: ({ signing: { scheme, header, merchantId } }) => {
      if (scheme === "custom") return `Le schéma donné par l’option signature ; son en-tête est ${header}.`;
      if (scheme === "hmac") return `HMAC du corps brut, en hexadécimal, dans ${header}.`;
      return `HMAC de champs du corps séparés par des virgules, avec le merchantId ${merchantId}, en hexadécimal, dans ${header}.`;
    },
  },
  topics: {
    notShown: "Topics autres que payment.completed",
    choice: ({ settings }) => {
      const told = [
        ...(settings.cancelWebhook
          ? ["payment.canceled après une annulation (sans submittedAt, providerId ni source)"]
          : []),
        ...(settings.failureWebhook ? ["payment.failed après un échec"] : []),
        ...(settings.statusWebhooks ? ["un pour chaque état en chemin"] : []),
      ];
      return `${told.join(" ; ") || "Aucun"}. Les options cancelWebhook, failureWebhook et statusWebhooks décident.`;
    },
  },
  delivery: {
    notShown: "Règles d’envoi",
    choice: ({ settings, retries }) =>
      `Toute réponse 2xx en moins de ${settings.webhookTimeoutMs / 1000} s est un succès. Sinon les mêmes octets repartent ; pauses : ${retries || "aucune"}. Les redirections ne sont pas suivies. Aucun ordre entre les adresses.`,
  },
  errors: {
    notShown: "Format, codes et états des erreurs",
    choice: ({ settings }) =>
      `400, 401, 404, 405 ou 413, ${forms[settings.errorBodies]}. L’option errorBodies choisit entre ${Object.keys(forms).join(", ")}. L’adresse des jetons répond avec error et error_description d’OAuth.`,
  },
  limits: { notShown: "Limites", choice: () => "64 Kio par demande de création. Pas de limite de débit." },
  versions: { notShown: "Politique de versions", choice: () => "Seul /v1 existe." },
};
