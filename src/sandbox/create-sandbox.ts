import express, { type ErrorRequestHandler, type Express } from "express";
import { createConfiguration, createPaymentActions, createWebhookActions } from "./operations/actions.js";
import { checkout } from "./checkout/checkout.js";
import { badRequestPage, unknownPage } from "./checkout/notice-page.js";
import { type Sandbox } from "./contract.js";
import { controlApi } from "./control-api.js";
import {
  createSandboxCore,
  type SandboxCore,
  type Restoration,
  restoreState,
  saveState,
} from "./core/core.js";
import { dashboard } from "./dashboard/routes.js";
import { createLifecycle, SandboxServer } from "./operations/lifecycle.js";
import { wantsPage } from "./http/middleware.js";
import { type SandboxOptions, resolveSandboxOptions } from "./options/options.js";
import { respondWithPage, sendError } from "./http/page.js";
import { PaymentTransitions } from "./operations/payment-transitions.js";
import { readLanguage } from "../pages/language.js";
import { TokenFaults } from "./scenario/scenario-registry.js";
import { paymentsApi } from "./service-api/payments-api.js";
import { tokenApi } from "./service-api/token-api.js";
import { WebhookMessages } from "./webhook/message.js";
import { WebhookSender } from "./webhook/sender.js";

/**
 * Makes an emulation of the payment service, for every merchant that follows the interface document.
 *
 * @throws ConfigurationError with every problem of the options.
 * @example
 * const sandbox = createSandbox({ webhookUrls: ["http://localhost:3000/payments/webhook"] });
 * await sandbox.start();
 */
export function createSandbox(given: SandboxOptions = {}): Sandbox {
  const options = resolveSandboxOptions(given);
  const core = createSandboxCore(options);
  core.clock.onForward(() => saveState(core));

  const messages = new WebhookMessages(core);
  const sender = new WebhookSender(core);
  const transitions = new PaymentTransitions(core, messages, sender);
  const restoration = restoreState(core, [sender, transitions]);

  const app = express();
  const server = new SandboxServer(app, options);

  const { merchantName, providers, seed, state } = options;
  const sandbox: Sandbox = combine(
    { app, merchantName, providers, seed, state, clock: core.clock, watch: core.events.watch },
    createLifecycle(core, { restoration, sender, server }),
    createConfiguration(core, restoration),
    createPaymentActions(core, { restoration, transitions }),
    createWebhookActions(core, { restoration, messages, sender }),
  );
  mountRoutes(app, core, { sandbox, restoration, transitions, server });
  return sandbox;
}

/** Returns one object with the properties of all parts. Unlike a spread, keeps getters as getters. */
function combine<A, B, C, D, E>(...parts: [A, B, C, D, E]): A & B & C & D & E {
  const descriptors = parts.map((part) => Object.getOwnPropertyDescriptors(part));
  return Object.defineProperties({}, Object.assign({}, ...descriptors)) as A & B & C & D & E;
}

interface RouteParts {
  sandbox: Sandbox;
  restoration: Restoration;
  transitions: PaymentTransitions;
  server: SandboxServer;
}

/** Adds the routes for the merchant's server, for the customer's browser and for the developer. */
function mountRoutes(app: Express, core: SandboxCore, parts: RouteParts): void {
  const { sandbox, restoration, transitions, server } = parts;
  const { options, scenarios, stateFile } = core;
  const tokenFaults = new TokenFaults(scenarios);
  const baseUrl = (host: string | undefined): string => server.baseUrl(host);
  app.disable("x-powered-by");
  app.use(async (_req, _res, next) => {
    next(await restoration.done.catch((error: unknown) => error));
  });
  app.use(tokenApi(core, tokenFaults));
  app.use(paymentsApi(core, { tokenFaults, transitions, baseUrl }));
  app.use(checkout(core, transitions));
  app.use("/sandbox/api", controlApi(core, sandbox));
  app.use(dashboard({ sandbox, options, baseUrl, flushed: () => stateFile.flushed() }));
  app.use((req, res) => {
    const isRead = ["GET", "HEAD"].includes(req.method) && req.get("authorization") === undefined;
    if (isRead || wantsPage(req))
      return respondWithPage(res, unknownPage(readLanguage(req), options.publicUrl));
    const detail =
      "There is no such address. Create a payment with POST /v1/payments, and a token with POST /oauth/token.";
    core.noteRefusal(req, 404, detail);
    sendError(res, core.settings.current.errorBodies, { status: 404, title: "Not found", detail });
  });
  app.use(sendBadRequestPage);
}

const sendBadRequestPage: ErrorRequestHandler = (error: { status?: number }, req, res, next) => {
  if (typeof error.status !== "number" || error.status >= 500) return next(error);
  respondWithPage(res, badRequestPage(readLanguage(req), error.status));
};
