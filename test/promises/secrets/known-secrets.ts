import { secret } from "../../support/kit.js";

/** The secrets of a merchant, which must never be printed. Each contains its own name. */
export const secrets = {
  "the webhook secret": secret,
  "the previous webhook secret": "whsec_before_5d8e1f3a9c7b2046e8d0f1a3",
  "the access token": "token_plain_0a9b8c7d6e5f4a3b2c1d~+/=",
  "the client secret": "client_secret_f&e d=c/b+a%9876543210",
  "the token that was issued": "token_issued_1f2e3d4c5b6a7988",
  "the database's password": "pa55word_of_the_database",
} as const;
