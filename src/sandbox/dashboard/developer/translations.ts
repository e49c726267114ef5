import { translate } from "../../../pages/language.js";

/** What the page of the credentials says. */
export const developerTranslations = translate({
  title: ["Credentials", "Identifiants"],
  lead: [
    "What your shop needs to create payments here. These values work with this sandbox only.",
    "Ce qu’il faut à votre boutique pour créer des paiements ici. Ces valeurs ne servent qu’à ce bac à sable.",
  ],
  access: ["Access", "Accès"],
  tokenUrl: ["Token address", "Adresse des jetons"],
  clientId: ["Client id", "Identifiant du client"],
  clientSecret: ["Client secret", "Secret du client"],
  environment: ["For a shop made with tillkit", "Pour une boutique faite avec tillkit"],
  environmentLead: [
    "Put these lines into its environment. The public address and the database are examples; set your own.",
    "Mettez ces lignes dans son environnement. L’adresse publique et la base de données sont des exemples ; mettez les vôtres.",
  ],
  lines: ["Show the lines, with their secrets", "Afficher les lignes, avec leurs secrets"],
  byProgram: [
    "The signature scheme was given by the program that started this sandbox: configure the same one.",
    "Le programme qui a démarré ce bac à sable a donné son propre schéma de signature : configurez le même.",
  ],
  tokens: ["Access tokens", "Jetons d’accès"],
  tokensLead: (seconds: string) => [
    `A token is obtained with the client id and secret, and is valid for ${seconds}.`,
    `Un jeton s’obtient avec l’identifiant et le secret du client ; il est valable ${seconds}.`,
  ],
  noTokens: ["No token was issued yet", "Aucun jeton émis pour l’instant"],
  noTokensText: [
    "Your shop asks for one at the token address before it creates a payment.",
    "Votre boutique en demande un à l’adresse des jetons avant de créer un paiement.",
  ],
  issued: ["issued", "émis"],
  expires: ["expires", "expire"],
  expired: ["expired", "expiré"],
  revoked: ["revoked", "révoqué"],
  revoke: ["Revoke", "Révoquer"],
  revokeAll: ["Revoke all", "Tout révoquer"],
  tokensLive: (count: number) => [`Access tokens: ${count}`, `Jetons d’accès : ${count}`],
  done: {
    revoked: ["The token stopped working.", "Le jeton ne fonctionne plus."],
    "revoked-all": [
      "Every token issued so far stopped working.",
      "Aucun jeton émis jusqu’ici ne fonctionne plus.",
    ],
  },
});
