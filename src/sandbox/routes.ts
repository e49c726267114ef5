import { type ErrorRequestHandler, type Express } from "express";
import { checkout } from "./checkout/checkout.js";
import { badRequestPage, unknownPage } from "./checkout/notice-page.js";
import { type Sandbox } from "./contract.js";
import { controlApi } from "./control-api/control-api.js";
import { type SandboxCore } from "./core.js";
import { dashboard } from "./dashboard/routes.js";
import { sendPage } from "./page.js";
import { type PaymentTransitions } from "./payment-transitions.js";
import { readLanguage } from "./read-language.js";
import { TokenFaults } from "./scenario/scenario-registry.js";
import { paymentsApi } from "./service-api/payments-api.js";
import { tokenApi } from "./service-api/token-api.js";
import { type Restoration } from "./state/saved-state.js";

interface RouteParts {
  /** The dashboard and the control addresses use the same methods as a test. */
  sandbox: Sandbox;
  restoration: Restoration;
  transitions: PaymentTransitions;
  /** Returns the sandbox's own address; `host` is the one that the request names. */
  baseUrl: (host: string | undefined) => string;
}

/** Adds every address of the sandbox: for the merchant's server, the customer's browser and the developer. */
export function mountRoutes(
  app: Express,
  core: SandboxCore,
  { sandbox, restoration, transitions, baseUrl }: RouteParts,
): void {
  const { options, stateFile } = core;
  const tokenFaults = new TokenFaults(core.scenarios);
  app.disable("x-powered-by");
  app.use(async (_req, _res, next) => {
    try {
      await restoration.done;
      next();
    } catch (error) {
      next(error);
    }
  });
  app.use(tokenApi(core, tokenFaults));
  app.use(paymentsApi(core, { tokenFaults, transitions, baseUrl }));
  app.use(checkout(core, transitions));
  app.use("/sandbox/api", controlApi(core, sandbox));
  app.use(dashboard({ sandbox, baseUrl, flushed: () => stateFile.flushed() }, options));
  app.use((req, res) => sendPage(res, 404, unknownPage(readLanguage(req))));
  app.use(sendBadRequestPage);
}

const sendBadRequestPage: ErrorRequestHandler = (error: { status?: number }, req, res, next) => {
  if (typeof error.status !== "number" || error.status >= 500) return next(error);
  sendPage(res, error.status, badRequestPage(readLanguage(req)));
};
