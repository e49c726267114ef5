import { inLanguages } from "../../../pages/language.js";

export const developerWords = inLanguages({
  en: {
    title: "Credentials",
    lead: "What your shop needs to create payments here. All of it is the sandbox’s own, and worth nothing elsewhere.",
    access: "Access",
    baseUrl: "Base address",
    tokenUrl: "Token address",
    clientId: "Client id",
    clientSecret: "Client secret",
    environment: "For a shop made with tillkit",
    environmentLead:
      "Put these lines into its environment. The public address and the database are examples; set your own.",
    lines: "Show the lines, with their secrets",
    byProgram:
      "The signature scheme was given by the program that started this sandbox: configure the same one.",
    tokens: "Access tokens",
    tokensLead: (seconds: string) =>
      `A token is obtained with the client id and secret, and lives for ${seconds}.`,
    noTokens: "No token was issued yet",
    noTokensText: "Your shop asks for one at the token address before it creates a payment.",
    token: (id: string) => `…${id}`,
    issued: "issued",
    expires: "expires",
    expired: "expired",
    revoked: "revoked",
    revoke: "Revoke",
    revokeAll: "Revoke all",
    tokensLive: (count: number) => `Access tokens: ${count}`,
    done: {
      revoked: "The token stopped working.",
      "revoked-all": "Every token issued so far stopped working.",
    },
  },
  fr: {
    title: "Identifiants",
    lead: "Ce qu’il faut à votre boutique pour créer des paiements ici. Tout appartient au bac à sable, et ne vaut rien ailleurs.",
    access: "Accès",
    baseUrl: "Adresse de base",
    tokenUrl: "Adresse des jetons",
    clientId: "Identifiant du client",
    clientSecret: "Secret du client",
    environment: "Pour une boutique faite avec tillkit",
    environmentLead:
      "Mettez ces lignes dans son environnement. L’adresse publique et la base de données sont des exemples ; mettez les vôtres.",
    lines: "Afficher les lignes, avec leurs secrets",
    byProgram:
      "Le programme qui a démarré ce bac à sable a donné son propre schéma de signature : configurez le même.",
    tokens: "Jetons d’accès",
    tokensLead: (seconds: string) =>
      `Un jeton s’obtient avec l’identifiant et le secret du client, et vit ${seconds}.`,
    noTokens: "Aucun jeton émis pour l’instant",
    noTokensText: "Votre boutique en demande un à l’adresse des jetons avant de créer un paiement.",
    token: (id: string) => `…${id}`,
    issued: "émis",
    expires: "expire",
    expired: "expiré",
    revoked: "révoqué",
    revoke: "Révoquer",
    revokeAll: "Tout révoquer",
    tokensLive: (count: number) => `Jetons d’accès : ${count}`,
    done: {
      revoked: "Le jeton ne fonctionne plus.",
      "revoked-all": "Aucun jeton émis jusqu’ici ne fonctionne plus.",
    },
  },
});
