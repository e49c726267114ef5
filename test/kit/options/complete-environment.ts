import { secret } from "../../support/kit.js";

/** The variables that a kit cannot do without. */
export const complete = {
  TILLKIT_PUBLIC_URL: "https://shop.example/payments",
  TILLKIT_SERVICE_URL: "https://api.pay.example",
  TILLKIT_ACCESS_TOKEN: "token-of-the-test",
  TILLKIT_WEBHOOK_SECRET: secret,
  TILLKIT_DATABASE: "shop.db",
};
