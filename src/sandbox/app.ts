import express, { type ErrorRequestHandler, type Express } from "express";
import { type Activity } from "./clock/activity.js";
import { type Clock } from "./clock/clock.js";
import { type Sandbox } from "./contract.js";
import { type PaymentMoves } from "./move-payments.js";
import { type ResolvedOptions } from "./options.js";
import { type ScenarioBook } from "./scenario/scenario-book.js";
import { type TokenTrouble } from "./scenario/token-trouble.js";
import { type Payments } from "./state/payments.js";
import { type AccessTokens } from "./state/tokens.js";
import { checkout } from "./checkout/checkout.js";
import { controlApi } from "./control-api/control-api.js";
import { dashboard } from "./dashboard/routes.js";
import { badRequestPage, unknownPage } from "./checkout/notice-page.js";
import { sendPage } from "./page.js";
import { paymentsApi } from "./service-api/payments-api.js";
import { readLanguage } from "./read-language.js";
import { tokenApi } from "./service-api/token-api.js";

/** What the addresses of the sandbox work on. */
export interface Parts {
  /** What the developer's pages and the control addresses use: no more than a test could. */
  sandbox: Sandbox;
  resolved: ResolvedOptions;
  payments: Payments;
  tokens: AccessTokens;
  scenarios: ScenarioBook;
  troubles: TokenTrouble;
  moves: PaymentMoves;
  clock: Clock;
  activity: Activity;
  /** Resolves when the state of an earlier run was taken over. */
  resuming: Promise<void>;
  /** Resolves when all that happened is on disk, where the state is kept. */
  flushed: () => Promise<void>;
  /** The sandbox's own address; `host` is what the request named, for an app that does not listen itself. */
  baseUrl: (host: string | undefined) => string;
}

/** Every address of the sandbox: for the merchant's server, for the customer's browser, for the developer. */
export function sandboxApp(parts: Parts): Express {
  const { sandbox, resuming, baseUrl, resolved } = parts;
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

  app.use(dashboard({ sandbox, baseUrl, flushed: parts.flushed }, resolved));

  app.use((req, res) => sendPage(res, 404, unknownPage(readLanguage(req))));
  app.use(unreadable);
  return app;
}

const unreadable: ErrorRequestHandler = (error: { status?: number }, req, res, next) => {
  if (typeof error.status !== "number" || error.status >= 500) return next(error);
  sendPage(res, error.status, badRequestPage(readLanguage(req)));
};
