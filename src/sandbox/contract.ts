import { type Express } from "express";
import { type SandboxClock } from "./clock/clock.js";
import { type Refusal, type SandboxEvent } from "./core/core.js";
import { type SandboxClient, type SandboxToken } from "./state/tokens.js";
import { type SandboxProvider } from "./options/options.js";
import { type Scenario } from "./scenario/scenario.js";
import { type WebhookAddress } from "./state/addresses.js";
import { type SandboxPayment } from "./state/payments.js";
import { type SandboxSettings } from "./state/sandbox-settings.js";
import { type SigningState } from "./state/signing.js";
import { type Delivery } from "./state/delivery.js";
import { type WebhookByHand } from "./webhook/message.js";

/** The start, the end and the addresses of a sandbox. */
export interface SandboxLifecycle {
  /**
   * Reads the state file, if there is one, and starts to listen. Rejects if the file cannot be read, or if
   * the port is in use. With `keepAlive: false`, the process may end although the sandbox listens.
   */
  start(options?: { keepAlive?: boolean }): Promise<void>;
  /** Ends retries and held webhooks, closes every connection, and waits for the running tasks. */
  close(): Promise<void>;
  /** The base address: `publicUrl` or the listening address. Throws `sandbox_misused` if there is neither. */
  readonly url: string;
  /** The address that issues access tokens: `{url}/oauth/token`. */
  readonly tokenUrl: string;
  /**
   * The environment variables of a shop that uses this sandbox: the addresses, the credentials, and the
   * signature. Variables with the kit's default value are left out. Throws `sandbox_misused` if the sandbox
   * has no address yet, like `url`.
   */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The credentials, scenarios and settings of a sandbox. Until the state file is read, every change, and each
 * getter of credentials, throws `sandbox_misused`.
 */
export interface SandboxConfiguration {
  /** The webhook secret; `undefined` if the option `signature` is a scheme object with `sign`. */
  readonly secret: string | undefined;
  /** The signature scheme of webhooks, with the secrets that the dashboard shows. */
  readonly signing: SigningState;
  /**
   * Replaces the webhook secret, and returns the new one. Throws `sandbox_misused` if the option `signature`
   * is a scheme object with `sign`.
   */
  rotateSecret(): string;
  /** The credentials of the first client, with which a merchant obtains access tokens. */
  readonly client: SandboxClient;
  /** Returns a new bearer token without a request. The default of `ttlSeconds` is `accessTokenTtlSeconds`. */
  accessToken(options?: { ttlSeconds?: number }): string;
  /** Returns every access token that was issued, newest first. */
  accessTokens(): readonly SandboxToken[];
  /** Revokes every token, or the token with this id. Throws `sandbox_misused` for an unknown id. */
  revokeAccessTokens(id?: string): void;

  /** All scenarios: the normal scenario, the catalogue, and the program's own scenarios. */
  readonly scenarios: readonly Scenario[];
  /**
   * The name of the scenario for payments that do not ask for a scenario. `random` draws one for each
   * payment.
   */
  readonly currentScenario: string;
  /**
   * Makes a scenario the current one. Pass its name, `"random"`, or your own scenario. With `for`, only the
   * payment with that id or clientId gets the scenario. The clientId may belong to a payment that is created
   * later. Throws `sandbox_misused` if the scenario is unknown or not valid.
   */
  scenario(scenario: string | Scenario, options?: { for?: string }): void;
  /** Adds or replaces a scenario, and returns its name. Throws `sandbox_misused` if it is not valid. */
  addScenario(scenario: Scenario): string;

  /** The present settings, for behaviour that the interface document does not specify. */
  readonly settings: Readonly<SandboxSettings>;
  /** Changes settings. Throws `sandbox_misused`, and changes nothing, if a value is not allowed. */
  change(settings: Partial<SandboxSettings>): void;
}

/** The methods for payments and for the customer's decisions. */
export interface SandboxPaymentActions {
  /**
   * Creates a payment without a request from the merchant. Without return addresses, the browser goes to
   * `http://localhost/`. Throws `sandbox_misused` for an id or a clientId that was used before.
   */
  create(
    payment: Pick<SandboxPayment, "clientId" | "total"> &
      Partial<Pick<SandboxPayment, "id" | "successUrl" | "cancelUrl">>,
  ): SandboxPayment;
  /** Returns every payment, oldest first. */
  payments(): readonly SandboxPayment[];
  /** Returns the payment with this id or clientId. */
  find(idOrClientId: string): SandboxPayment | undefined;
  /**
   * Completes a payment as if the customer had approved it, or makes the moves of its scenario. Resolves
   * after the first attempt of each webhook, and so waits while webhooks are held or delayed. A canceled
   * payment can also be paid. Throws `sandbox_misused` for an unknown payment or provider, or a completed
   * payment.
   */
  pay(idOrClientId: string, options?: { provider?: string }): Promise<Delivery[]>;
  /**
   * Cancels a pending payment as if the customer had canceled it, or makes the moves of its scenario.
   * Resolves with the first attempts of the webhooks. A normal cancel sends webhooks only if `cancelWebhook`
   * is on. Throws `sandbox_misused` for an unknown payment, or for a payment that is not pending.
   */
  cancel(idOrClientId: string): Promise<Delivery[]>;
  /**
   * Fails a pending payment, as if the provider had refused it. Sends webhooks only if `failureWebhook` is
   * on. Throws `sandbox_misused` as `cancel` does.
   */
  fail(idOrClientId: string): Promise<Delivery[]>;
}

/** The methods for webhook addresses and for webhooks. */
export interface SandboxWebhookActions {
  /** The registered webhook addresses, in the order in which they were added. */
  readonly webhookAddresses: readonly WebhookAddress[];
  /** Adds an address for later webhooks. Throws `sandbox_misused` if the address is not allowed. */
  registerWebhook(url: string): WebhookAddress;
  /** Removes an address by its url or id. The address gets no further webhooks or retries. */
  unregisterWebhook(urlOrId: string): void;
  /**
   * Sends one signed test webhook to a registered address. The `data` of the webhook is empty; with the
   * scheme `fields`, `data` is an invented pending payment. Throws `sandbox_misused` for an unknown address.
   */
  tryWebhook(urlOrId: string): Promise<Delivery>;
  /** Holds webhooks, so that a test can look at the merchant's page before they arrive. */
  holdWebhooks(): void;
  /** Sends the held webhooks, and ends the hold. */
  releaseWebhooks(): void;
  /** Whether webhooks are held. */
  readonly webhooksHeld: boolean;
  /** Every attempt that has ended, in the order in which they ended. */
  readonly deliveries: readonly Delivery[];
  /** Sends the bytes of a delivery to its address again. Throws `sandbox_misused` for an unknown id. */
  deliverAgain(deliveryId: string): Promise<Delivery>;
  /**
   * Sends the webhook that a test describes, immediately and once. Resolves with the merchant's response; the
   * body is empty if other machines can reach the sandbox. The payment does not change. Throws
   * `sandbox_misused` if there is no such payment, no allowed address, or no response.
   */
  sendWebhook(webhook: WebhookByHand): Promise<{ status: number; body: string }>;
  /** The last 100 refused requests of the merchant's server, oldest first, each with its reason. */
  readonly refusals: readonly Refusal[];
  /**
   * Resolves when nothing is in progress or waits for the clock: webhooks and their retries, the moves of
   * payments, and delayed responses. Held webhooks do not count.
   */
  settled(): Promise<void>;
}

/**
 * An emulation of the payment service, for development and tests. docs/sandbox.md describes the behaviour
 * that the interface document does not specify. Everything is in memory, unless the option `state` names a
 * file.
 */
export interface Sandbox
  extends SandboxLifecycle, SandboxConfiguration, SandboxPaymentActions, SandboxWebhookActions {
  /** The Express application, which works without listening, in supertest for example. */
  readonly app: Express;
  /** The merchant's name on the pages. */
  readonly merchantName: string;
  /** The providers on the checkout page. */
  readonly providers: readonly SandboxProvider[];
  /** The seed that makes ids and the scenario `random` repeatable, if one was given. */
  readonly seed: string | undefined;
  /** The file that holds the state between runs; `undefined` if there is none. */
  readonly state: string | undefined;
  /** The sandbox's clock. A test can put the clock forward, instead of waiting for retries. */
  readonly clock: SandboxClock;
  /** Calls the listener for each event when it happens. Returns a function that removes the listener. */
  watch(listener: (event: SandboxEvent) => void): () => void;
}
