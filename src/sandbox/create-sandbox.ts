import express from "express";
import { createConfiguration } from "./configuration.js";
import { type Sandbox } from "./contract.js";
import { createCore } from "./core.js";
import { createLifecycle, SandboxServer } from "./lifecycle.js";
import { type SandboxOptions } from "./options.js";
import { createPaymentActions } from "./payment-actions.js";
import { PaymentTransitions } from "./payment-transitions.js";
import { resolveSandboxOptions } from "./resolve-options.js";
import { mountRoutes } from "./routes.js";
import { restoreState, saveState } from "./state/saved-state.js";
import { WebhookMessages } from "./webhook/message.js";
import { WebhookSender } from "./webhook/sender.js";
import { createWebhookActions } from "./webhook-actions.js";

/**
 * Makes a stand-in for the payment service. It serves every merchant that follows the interface document.
 *
 * @throws ConfigurationError with every problem of the options.
 * @example
 * const sandbox = createSandbox({ webhookUrls: ["http://localhost:3000/payments/webhook"] });
 * await sandbox.start();
 */
export function createSandbox(given: SandboxOptions = {}): Sandbox {
  const options = resolveSandboxOptions(given);
  const core = createCore(options);
  core.clock.onForward(() => saveState(core));

  const messages = new WebhookMessages(core);
  const sender = new WebhookSender(core);
  const transitions = new PaymentTransitions(core, { messages, sender });
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
  mountRoutes(app, core, {
    sandbox,
    restoration,
    transitions,
    baseUrl: (host) => server.baseUrl(host),
  });
  return sandbox;
}

type Combined<Parts extends readonly object[]> = Parts extends readonly [
  infer First,
  ...infer Rest extends object[],
]
  ? First & Combined<Rest>
  : unknown;

/** Returns one object with the properties of all parts. A getter stays a getter. */
function combine<Parts extends readonly object[]>(...parts: Parts): Combined<Parts> {
  const descriptors = parts.map((part) => Object.getOwnPropertyDescriptors(part));
  return Object.defineProperties({}, Object.assign({}, ...descriptors)) as Combined<Parts>;
}
