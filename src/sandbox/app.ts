import { type Parts } from "./parts.js";
import express, { type ErrorRequestHandler, type Express } from "express";
import { checkout } from "./checkout/checkout.js";
import { controlApi } from "./control-api/control-api.js";
import { dashboard } from "./dashboard/routes.js";
import { badRequestPage, unknownPage } from "./checkout/notice-page.js";
import { sendPage } from "./page.js";
import { paymentsApi } from "./service-api/payments-api.js";
import { readLanguage } from "../pages/language.js";
import { tokenApi } from "./service-api/token-api.js";

/** Every address of the sandbox: for the merchant's server, for the customer's browser, for the developer. */
export function sandboxApp(parts: Parts): Express {
  const { resuming } = parts;
  const app = express();
  app.disable("x-powered-by");
  app.use(async (_req, _res, next) => {
    try {
      await resuming;
      next();
    } catch (error) {
      next(error);
    }
  });

  app.use(tokenApi(parts));
  app.use(paymentsApi(parts));
  app.use(checkout(parts));
  app.use("/sandbox/api", controlApi(parts));

  app.use(dashboard(parts));

  app.use((req, res) => sendPage(res, unknownPage(readLanguage(req))));
  app.use(unreadable);
  return app;
}

const unreadable: ErrorRequestHandler = (error: { status?: number }, req, res, next) => {
  if (typeof error.status !== "number" || error.status >= 500) return next(error);
  sendPage(res, badRequestPage(readLanguage(req), error.status));
};
