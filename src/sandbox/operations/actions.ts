import {
  type SandboxConfiguration,
  type SandboxPaymentActions,
  type SandboxWebhookActions,
} from "../contract.js";
import { type SandboxCore, type Restoration, saveState } from "../core/core.js";
import { type PaymentTransitions } from "./payment-transitions.js";
import { type SandboxPayment } from "../state/payments.js";
import { throwMisuse } from "../state/misuse.js";
import { type WebhookMessages } from "../webhook/message.js";
import { type WebhookSender } from "../webhook/sender.js";

/** Makes the part of the sandbox that holds its credentials, scenarios and settings. */
export function createConfiguration(core: SandboxCore, restoration: Restoration): SandboxConfiguration {
  const { payments, scenarios, settings, signing, tokens } = core;
  /** Changes the configuration and saves it. */
  const change = <T>(run: () => T): T => {
    restoration.requireDone();
    const result = run();
    saveState(core);
    return result;
  };
  const restored = <T>(part: T): T => {
    restoration.requireDone();
    return part;
  };

  return {
    get secret() {
      return restored(signing).state.secret;
    },
    get signing() {
      return restored(signing).state;
    },
    get client() {
      return restored(tokens).clients[0]!;
    },
    rotateSecret: () => change(() => signing.rotate()),
    accessToken: ({ ttlSeconds = settings.current.accessTokenTtlSeconds } = {}) =>
      restored(tokens).issue(ttlSeconds * 1000),
    accessTokens: () => tokens.list(),
    revokeAccessTokens: (id) => restored(tokens).revoke(id),

    get scenarios() {
      return scenarios.list();
    },
    get currentScenario() {
      return scenarios.current;
    },
    scenario: (scenario, { for: idOrClientId } = {}) =>
      change(() => {
        const name = typeof scenario === "string" ? scenario : scenarios.add(scenario);
        if (idOrClientId === undefined) return scenarios.choose(name);
        const payment = payments.find(idOrClientId);
        const assigned = scenarios.assign(payment?.clientId ?? idOrClientId, name);
        if (payment) payments.assignScenario(payment, assigned);
      }),
    addScenario: (scenario) => change(() => scenarios.add(scenario)),

    get settings() {
      return settings.current;
    },
    change: (changes) => change(() => settings.change(changes)),
  };
}

/** Makes the part of the sandbox that creates, lists, pays and cancels payments. */
export function createPaymentActions(
  { options, payments, scenarios }: SandboxCore,
  { restoration, transitions }: { restoration: Restoration; transitions: PaymentTransitions },
): SandboxPaymentActions {
  const { providers } = options;
  const defaultProvider = providers[0]!.code;
  const findPending = (idOrClientId: string): SandboxPayment => {
    const payment = requirePayment(payments, idOrClientId);
    if (payment.status !== "pending") throwMisuse(`The payment "${idOrClientId}" is ${payment.status}.`);
    return payment;
  };

  return {
    create: ({ id, clientId, total, successUrl = "http://localhost/", cancelUrl = successUrl }) => {
      restoration.requireDone();
      if (id !== undefined && payments.byId(id)) throwMisuse(`A payment with the id "${id}" exists already.`);
      if (payments.isTaken(clientId)) throwMisuse(`The clientId "${clientId}" was used before.`);
      const request = { clientId, total, successUrl, cancelUrl };
      return payments.create(request, scenarios.nameFor(request), id);
    },
    payments: () => payments.list(),
    find: (idOrClientId) => payments.find(idOrClientId),
    pay: async (idOrClientId, { provider = defaultProvider } = {}) => {
      const payment = requirePayment(payments, idOrClientId);
      if (payment.status === "completed") throwMisuse(`The payment "${idOrClientId}" is completed already.`);
      const codes = providers.map(({ code }) => code);
      if (!codes.includes(provider))
        throwMisuse(`There is no provider with the code "${provider}". The codes are ${codes.join(", ")}.`);
      return transitions.run("approved", payment, provider);
    },
    cancel: async (idOrClientId) => transitions.run("canceled", findPending(idOrClientId), defaultProvider),
    fail: async (idOrClientId) => {
      const sent = transitions.apply(findPending(idOrClientId), { status: "failed" }, defaultProvider);
      return (await Promise.all(sent)).flat();
    },
  };
}

/** Makes the part of the sandbox that registers webhook addresses, and holds, repeats and forges webhooks. */
export function createWebhookActions(
  { options, addresses, payments, activity, refusals }: SandboxCore,
  parts: { restoration: Restoration; messages: WebhookMessages; sender: WebhookSender },
): SandboxWebhookActions {
  const { restoration, messages, sender } = parts;
  return {
    get webhookAddresses() {
      return addresses.list();
    },
    registerWebhook: (url) => {
      restoration.requireDone();
      return addresses.add(url);
    },
    unregisterWebhook: (urlOrId) => {
      restoration.requireDone();
      addresses.remove(urlOrId);
    },
    tryWebhook: async (urlOrId) => {
      const address = addresses.find(urlOrId) ?? throwMisuse(`No webhook address ${urlOrId} is registered.`);
      return sender.sendOnce(messages.forTrial(), address.url);
    },
    holdWebhooks: () => sender.hold(),
    releaseWebhooks: () => sender.release(),
    get webhooksHeld() {
      return sender.held;
    },
    deliveries: sender.deliveries,
    refusals,
    deliverAgain: async (deliveryId) =>
      (await sender.sendAgain(deliveryId)) ??
      throwMisuse(`There is no delivery with the id "${deliveryId}".`),
    sendWebhook: async (webhook) => {
      const payment = requirePayment(payments, webhook.payment);
      const url = addresses.check(
        webhook.url ?? addresses.list()[0]?.url ?? throwMisuse("No webhook address is registered."),
      );
      const submission = payments.submission(payment, options.providers[0]!.code);
      const sent = await sender.sendOnce(messages.fromTest({ ...submission, ...payment }, webhook), url);
      if (sent.status === undefined) throwMisuse(`${url} did not answer: ${sent.error}.`);
      return { status: sent.status, body: sent.responseBody ?? "" };
    },
    settled: () => activity.idle(),
  };
}

function requirePayment(payments: SandboxCore["payments"], idOrClientId: string): SandboxPayment {
  const payment = payments.find(idOrClientId);
  return payment ?? throwMisuse(`There is no payment with the id or clientId "${idOrClientId}".`);
}
