import { Activity } from "./clock/activity.js";
import { Clock } from "./clock/clock.js";
import { type Sandbox, type SandboxEvent } from "./contract.js";
import { sandboxApp } from "./app.js";
import { Listener } from "./listener.js";
import { misused } from "./misused.js";
import { PaymentMoves } from "./move-payments.js";
import { type SandboxOptions } from "./options.js";
import { resolveOptions } from "./resolve-options.js";
import { type PlanParts } from "./scenario/plan-webhook.js";
import { ScenarioBook } from "./scenario/scenario-book.js";
import { TokenTrouble } from "./scenario/token-trouble.js";
import { Addresses } from "./state/addresses.js";
import { forgetful, keepIn } from "./state/keeper.js";
import { Payments, type SandboxPayment } from "./state/payments.js";
import { randomness } from "./state/randomness.js";
import { Settings } from "./state/settings.js";
import { Signing } from "./state/signing.js";
import { AccessTokens } from "./state/tokens.js";
import { tryMessage, webhookByHand } from "./webhook/by-hand.js";
import { WebhookSender } from "./webhook/sender.js";
import { keepWhole, resumeWhole } from "./state/whole.js";

/**
 * Makes a stand-in for the payment service. It serves any merchant that follows the interface document.
 *
 * @throws ConfigurationError with every problem of the options at once.
 * @example
 * const sandbox = createSandbox({ webhookUrls: ["http://localhost:3000/payments/webhook"] });
 * await sandbox.start();
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const resolved = resolveOptions(options);
  const { providers, merchantName } = resolved;
  const listeners = new Set<(event: SandboxEvent) => void>();
  const tell = (event: SandboxEvent): void => {
    for (const listener of listeners) listener(event);
  };

  const keeper = resolved.state === undefined ? forgetful : keepIn(resolved.state);
  const activity = new Activity();
  const random = (use: string) => randomness(resolved.seed, use);
  const clock = new Clock(resolved.now, activity, () => keepState());
  const now = (): Date => clock.now();
  const signing = new Signing(resolved.signature);
  const settings = new Settings(resolved.settings);
  const scenarios = new ScenarioBook(random("scenarios"), resolved.scenarios);
  scenarios.choose(resolved.scenario);
  const addresses = new Addresses({ allowRemote: resolved.allowRemoteWebhooks, keeper, now });
  const tokens = new AccessTokens(resolved.clients, now, keeper);
  const payments = new Payments({
    now,
    randomness: random("payments"),
    keeper,
    onChange: (type, payment) => tell({ type, payment }),
  });
  const sender = new WebhookSender({
    settings,
    addresses,
    clock,
    activity,
    randomness: random("deliveries"),
    keeper,
    onDelivery: (delivery) => tell({ type: "delivery", delivery }),
  });

  const whole = { clock, signing, settings, scenarios, tokens, keeper };
  const keepState = (): void => keepWhole(whole);
  let isResumed = resolved.state === undefined;
  const resuming: Promise<void> = resume();
  // Reported by start(), or by the first request.
  resuming.catch(() => {});

  async function resume(): Promise<void> {
    if (isResumed) return addGiven();
    await resumeWhole(whole, resolved);
    await Promise.all([payments.resume(), addresses.resume(), tokens.resume()]);
    await Promise.all([sender.resume(), moves.resume()]);
    isResumed = true;
    addGiven();
    keepState();
  }
  function addGiven(): void {
    for (const url of resolved.webhookUrls) addresses.add(url);
  }

  const invented = random("invented");
  const plan: PlanParts = {
    now,
    sign: (rawBody, how) => {
      if (how === "missing") return undefined;
      try {
        return how === "right" ? signing.sign(rawBody) : signing.signWrongly(rawBody, how);
      } catch {
        // A scheme of the program's own that cannot sign this: it goes out unsigned.
        return undefined;
      }
    },
    headersFor: (signature) => ({
      "Content-Type": "application/json",
      "User-Agent": "tillkit-sandbox",
      ...(signature !== undefined && { [signing.state.header]: signature }),
    }),
    anotherClientId: ({ id }) =>
      payments.list().findLast((other) => other.id !== id)?.clientId ?? `not-yours-${invented.hex(4)}`,
  };
  const moves = new PaymentMoves({ payments, scenarios, settings, sender, clock, activity, plan, keeper });

  const found = (idOrClientId: string): SandboxPayment =>
    payments.find(idOrClientId) ?? misused(`There is no payment with the id or clientId "${idOrClientId}".`);
  const chosenProvider = (code = providers[0]!.code): string =>
    providers.some((provider) => provider.code === code)
      ? code
      : misused(`There is no provider with the code "${code}".`);
  const pending = (idOrClientId: string): SandboxPayment => {
    const payment = found(idOrClientId);
    return payment.status === "pending"
      ? payment
      : misused(`The payment "${idOrClientId}" is ${payment.status}.`);
  };
  const started = <T>(value: T): T =>
    isResumed ? value : misused("The sandbox's state is read from its file first: await start().");

  const sandbox: Sandbox = {
    merchantName,
    providers,
    seed: resolved.seed,
    state: resolved.state,
    get app() {
      return app;
    },
    get secret() {
      return started(signing.state.secret);
    },
    get signing() {
      return started(signing.state);
    },
    get client() {
      return started(tokens.clients[0]!);
    },
    rotateSecret: () => {
      started(true);
      const secret = signing.rotate();
      keepState();
      return secret;
    },
    get url() {
      return (
        resolved.publicUrl ?? listener.url ?? misused("The sandbox has no address yet: await start() first.")
      );
    },
    get tokenUrl() {
      return `${this.url}/oauth/token`;
    },
    start: async () => {
      await resuming;
      await listener.start(resolved.port, resolved.host);
    },
    close: async () => {
      sender.close();
      clock.close();
      await listener.close();
      await activity.idle();
      await resuming.catch(() => {});
      await keeper.close();
    },
    accessToken: ({ ttlSeconds = settings.current.accessTokenTtlSeconds } = {}) =>
      started(tokens).issue(ttlSeconds * 1000),
    accessTokens: () => tokens.list(),
    revokeAccessTokens: (id) => void started(tokens).revoke(id),

    create: ({ id, clientId, total, ...urls }) => {
      started(true);
      if (id !== undefined && payments.byId(id)) misused(`There is a payment with the id "${id}" already.`);
      if (payments.isTaken(clientId)) misused(`The clientId "${clientId}" was used before.`);
      const { successUrl = "http://localhost/", cancelUrl = successUrl } = urls;
      const request = { clientId, total, successUrl, cancelUrl };
      return payments.create(request, scenarios.nameFor(request), id);
    },
    payments: () => payments.list(),
    find: (idOrClientId) => payments.find(idOrClientId),
    pay: async (idOrClientId, { provider } = {}) => {
      const payment = found(idOrClientId);
      if (payment.status === "completed") misused(`The payment "${idOrClientId}" is completed already.`);
      return moves.at("approved", payment, chosenProvider(provider));
    },
    cancel: async (idOrClientId) => moves.at("canceled", pending(idOrClientId), chosenProvider()),
    fail: async (idOrClientId) => {
      const sent = moves.take(pending(idOrClientId), { status: "failed" }, chosenProvider());
      return (await Promise.all(sent)).flat();
    },

    get webhookAddresses() {
      return addresses.list();
    },
    registerWebhook: (url) => started(addresses).add(url),
    unregisterWebhook: (urlOrId) => started(addresses).remove(urlOrId),
    tryWebhook: async (urlOrId) => {
      const address = addresses.find(urlOrId) ?? misused(`No webhook address ${urlOrId} is registered.`);
      return sender.sendOnce(tryMessage(signing, plan, invented), address.url);
    },
    holdWebhooks: () => sender.hold(),
    releaseWebhooks: () => sender.release(),
    get webhooksHeld() {
      return sender.held;
    },
    deliveries: sender.deliveries,
    deliverAgain: async (deliveryId) =>
      (await sender.repeat(deliveryId)) ?? misused(`There is no delivery with the id "${deliveryId}".`),
    sendWebhook: async (webhook) => {
      const payment = found(webhook.payment);
      const url = addresses.check(
        webhook.url ?? addresses.list()[0]?.url ?? misused("No webhook address is registered."),
      );
      const submission = payments.submission(payment, providers[0]!.code);
      const sent = await sender.sendOnce(webhookByHand({ ...submission, ...payment }, webhook, plan), url);
      if (sent.status === undefined) misused(`${url} did not answer: ${sent.error}.`);
      return { status: sent.status, body: sent.responseBody ?? "" };
    },
    settled: () => activity.idle(),

    get scenarios() {
      return scenarios.list();
    },
    get currentScenario() {
      return scenarios.current;
    },
    scenario: (scenario, { for: idOrClientId } = {}) => {
      started(true);
      const name = typeof scenario === "string" ? scenario : scenarios.add(scenario);
      if (idOrClientId === undefined) scenarios.choose(name);
      else {
        const payment = payments.find(idOrClientId);
        const chosen = scenarios.assign(payment?.clientId ?? idOrClientId, name);
        if (payment) payments.follow(payment, chosen);
      }
      keepState();
    },
    addScenario: (scenario) => {
      const name = started(scenarios).add(scenario);
      keepState();
      return name;
    },

    get settings() {
      return settings.current;
    },
    change: (changes) => {
      started(settings).change(changes);
      keepState();
    },
    clock,
    watch: (watcher) => {
      listeners.add(watcher);
      return () => void listeners.delete(watcher);
    },
  };

  const app = sandboxApp({
    sandbox,
    resolved,
    payments,
    tokens,
    scenarios,
    troubles: new TokenTrouble(scenarios),
    moves,
    clock,
    activity,
    resuming,
    flushed: () => keeper.flushed(),
    baseUrl: (host) => resolved.publicUrl ?? listener.url ?? `http://${host ?? "localhost"}`,
  });
  const listener = new Listener(app);
  return sandbox;
}
