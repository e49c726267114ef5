import { type Pair } from "../../../pages/language.js";
import { type Sandbox } from "../../contract.js";

/** What the choices depend on. */
interface Chosen extends Pick<Sandbox, "settings" | "signing" | "providers"> {
  allowRemoteWebhooks: boolean;
}

interface Choice {
  /** The section of the interface document. */
  section: string;
  /** What the document does not show. */
  notShown: Pair;
  /** What the sandbox does there. */
  choice: Pair | ((chosen: Chosen) => Pair);
}

/** How the choice about errors names the forms of an error's body. */
const errorForms = {
  problem: ["with JSON: status, title, detail, in English", "en JSON : status, title, detail, en anglais"],
  bare: ["without a body", "sans corps"],
  html: ["with a page", "par une page"],
} as const;

const seconds = (delaysMs: readonly number[]): string => delaysMs.map((ms) => `${ms / 1000} s`).join(", ");

/** What the sandbox does where the interface document says "not shown", in the order of the document. */
export const choices: readonly Choice[] = [
  {
    section: "1",
    notShown: ["Operations other than payment creation", "Opérations autres que la création d’un paiement"],
    choice: ({ settings }) =>
      settings.readBack
        ? [
            "GET /v1/payments/{id} and GET /v1/payments?limit=&offset= answer, because the option readBack is on.",
            "GET /v1/payments/{id} et GET /v1/payments?limit=&offset= répondent, car l’option readBack est active.",
          ]
        : [
            "None. The option readBack enables GET /v1/payments/{id} and GET /v1/payments.",
            "Aucune. L’option readBack active GET /v1/payments/{id} et GET /v1/payments.",
          ],
  },
  {
    section: "2.1",
    notShown: ["Format of the payment’s id", "Format de l’identifiant du paiement"],
    choice: ["24 hexadecimal digits.", "24 chiffres hexadécimaux."],
  },
  {
    section: "2.4",
    notShown: ["Status values beyond pending and completed", "États autres que pending et completed"],
    choice: ({ settings: { statuses } }) => [
      `canceled, after the customer pressed Cancel; failed, where the provider refuses${statuses.map((status) => `; ${status}, on the way`).join("")}. The option statuses adds init, submitted, approved and captured.`,
      `canceled, quand le client a appuyé sur Annuler ; failed, quand l’opérateur refuse${statuses.map((status) => ` ; ${status}, en chemin`).join("")}. L’option statuses ajoute init, submitted, approved et captured.`,
    ],
  },
  {
    section: "2.4",
    notShown: [
      "Length, charset and uniqueness scope of clientId",
      "Longueur, caractères et unicité de clientId",
    ],
    choice: ({ settings: { strict } }) => [
      `1 to 255 characters without control characters; ${strict ? "used once in the life of the sandbox" : "a repeated one creates a second payment, because the option strict is off"}.`,
      `1 à 255 caractères sans caractère de contrôle ; ${strict ? "utilisé une seule fois dans la vie du bac à sable" : "répété, il crée un second paiement, car l’option strict est inactive"}.`,
    ],
  },
  {
    section: "2.4",
    notShown: [
      "Permitted currency codes; precision and bounds of the amount",
      "Devises permises ; précision et bornes du montant",
    ],
    choice: ({ settings: { strict } }) => [
      `${strict ? "Codes of ISO 4217" : "Any three letters"}. Up to 16 digits and ${strict ? "the decimals of the currency" : "4 decimals"}, above zero; kept as it was written.`,
      `${strict ? "Les codes de l’ISO 4217" : "Trois lettres quelconques"}. Jusqu’à 16 chiffres et ${strict ? "les décimales de la devise" : "4 décimales"}, au-dessus de zéro ; gardé tel qu’il a été écrit.`,
    ],
  },
  {
    section: "2.4",
    notShown: ["Values of source, format of providerId", "Valeurs de source, format de providerId"],
    choice: ({ providers }) => [
      `source is one of ${providers.map(({ code }) => code).join(", ")}; providerId is the source, a hyphen and 12 hexadecimal digits.`,
      `source est l’un de ${providers.map(({ code }) => code).join(", ")} ; providerId est la source, un tiret et 12 chiffres hexadécimaux.`,
    ],
  },
  {
    section: "3",
    notShown: [
      "A state resulting from cancellation, and any other move",
      "L’état après une annulation, et tout autre changement",
    ],
    choice: [
      "canceled is final on the checkout page. The dashboard, or a test with sandbox.pay(), may still complete such a payment, since a real service might.",
      "canceled est final sur la page de paiement. Le tableau de bord, ou un test avec sandbox.pay(), peut quand même terminer un tel paiement, car un vrai service le pourrait.",
    ],
  },
  {
    section: "4.1",
    notShown: ["Success status code of the creation", "Code de succès de la création"],
    choice: ({ settings: { successStatus } }) => [
      `${successStatus}; the option successStatus chooses among 200, 201 and 202.`,
      `${successStatus} ; l’option successStatus choisit entre 200, 201 et 202.`,
    ],
  },
  {
    section: "4.3",
    notShown: ["Query parameters and headers of the callbacks", "Paramètres et en-têtes des retours"],
    choice: [
      "None. The browser is sent, by 303, to exactly the address that the merchant gave.",
      "Aucun. Le navigateur est envoyé, par 303, exactement à l’adresse que le marchand a donnée.",
    ],
  },
  {
    section: "4.4",
    notShown: [
      "A registration endpoint for webhook addresses",
      "Une adresse d’enregistrement pour les webhooks",
    ],
    choice: ({ allowRemoteWebhooks }) => [
      `The dashboard, the option webhookUrls, and sandbox.registerWebhook(); ${allowRemoteWebhooks ? "any address" : "addresses on this machine only"}.`,
      `Le tableau de bord, l’option webhookUrls et sandbox.registerWebhook() ; ${allowRemoteWebhooks ? "toute adresse" : "adresses de cette machine seulement"}.`,
    ],
  },
  {
    section: "5",
    notShown: ["How the access token is obtained", "Comment s’obtient le jeton d’accès"],
    choice: ({ settings: { accessTokenTtlSeconds } }) => [
      `POST /oauth/token, OAuth 2 client credentials, in the form or by HTTP Basic; valid for ${accessTokenTtlSeconds} s.`,
      `POST /oauth/token, identifiants de client d’OAuth 2, dans le formulaire ou par HTTP Basic ; valable ${accessTokenTtlSeconds} s.`,
    ],
  },
  {
    section: "5",
    notShown: [
      "Signature algorithm, signed content and key",
      "Algorithme, contenu signé et clé de la signature",
    ],
    choice: ({ signing: { scheme, header, merchantId } }) => {
      const schemes: Readonly<Record<typeof scheme, Pair>> = {
        custom: [
          `The scheme given as the option signature; its header is ${header}.`,
          `Le schéma donné par l’option signature ; son en-tête est ${header}.`,
        ],
        hmac: [
          `HMAC over the raw body, in hexadecimal, in ${header}.`,
          `HMAC du corps brut, en hexadécimal, dans ${header}.`,
        ],
        fields: [
          `HMAC over fields of the body joined by commas, with the merchantId ${merchantId}, in hexadecimal, in ${header}.`,
          `HMAC de champs du corps séparés par des virgules, avec le merchantId ${merchantId}, en hexadécimal, dans ${header}.`,
        ],
      };
      return schemes[scheme];
    },
  },
  {
    section: "6.2",
    notShown: ["Topics other than payment.completed", "Topics autres que payment.completed"],
    choice: ({ settings: { cancelWebhook, failureWebhook, statusWebhooks } }) => {
      const all: readonly (readonly [isSent: boolean, ...Pair])[] = [
        [
          cancelWebhook,
          "payment.canceled after a cancel (without providerId and source)",
          "payment.canceled après une annulation (sans providerId ni source)",
        ],
        [failureWebhook, "payment.failed after a failure", "payment.failed après un échec"],
        [statusWebhooks, "one for each status on the way", "un pour chaque état en chemin"],
      ];
      const sent = all.filter(([isSent]) => isSent);
      return [
        `${sent.map(([, english]) => english).join("; ") || "None"}. The options cancelWebhook, failureWebhook and statusWebhooks decide.`,
        `${sent.map(([, , french]) => french).join(" ; ") || "Aucun"}. Les options cancelWebhook, failureWebhook et statusWebhooks décident.`,
      ];
    },
  },
  {
    section: "6.2",
    notShown: ["Delivery rules", "Règles d’envoi"],
    choice: ({ settings: { webhookTimeoutMs, retryDelaysMs } }) => [
      `Any 2xx within ${webhookTimeoutMs / 1000} s is success. Otherwise the same bytes are sent again; pauses: ${seconds(retryDelaysMs) || "none"}. Redirects are not followed. No order between addresses.`,
      `Toute réponse 2xx en moins de ${webhookTimeoutMs / 1000} s est un succès. Sinon les mêmes octets repartent ; pauses : ${seconds(retryDelaysMs) || "aucune"}. Les redirections ne sont pas suivies. Aucun ordre entre les adresses.`,
    ],
  },
  {
    section: "7",
    notShown: ["Error format, codes and status codes", "Format, codes et états des erreurs"],
    choice: ({ settings: { errorBodies } }) => [
      `400, 401, 404, 405 or 413, ${errorForms[errorBodies][0]}. The option errorBodies chooses among ${Object.keys(errorForms).join(", ")}. The token address answers with OAuth’s error and error_description.`,
      `400, 401, 404, 405 ou 413, ${errorForms[errorBodies][1]}. L’option errorBodies choisit entre ${Object.keys(errorForms).join(", ")}. L’adresse des jetons répond avec error et error_description d’OAuth.`,
    ],
  },
  {
    section: "8",
    notShown: ["Limits", "Limites"],
    choice: [
      "64 KiB per creation request. No rate limit.",
      "64 Kio par demande de création. Pas de limite de débit.",
    ],
  },
  {
    section: "9",
    notShown: ["Version policy", "Politique de versions"],
    choice: ["Only /v1 exists.", "Seul /v1 existe."],
  },
];
