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

/** Starting, closing, and the addresses. */
export interface SandboxLifecycle {
  /**
   * Starts to listen. A state file is read first. Rejects if the port is in use. With `keepAlive: false` the process may end
   * although the sandbox listens.
   */
  start(options?: { keepAlive?: boolean }): Promise<void>;
  /** Ends retries and held webhooks, closes every connection, and waits for the tasks that are in progress. */
  close(): Promise<void>;
  /** The base address: `publicUrl`, or the address that it listens on. Throws `sandbox_misused` before it listens. */
  readonly url: string;
  /** The address that issues access tokens: `{url}/oauth/token`. */
  readonly tokenUrl: string;
}

/** Credentials, scenarios and settings. */
export interface SandboxConfiguration {
  /** The webhook secret; `undefined` for a given scheme. With a state file it throws `sandbox_misused` before the start. */
  readonly secret: string | undefined;
  /** How webhooks are signed, including the secrets that the dashboard shows. */
  readonly signing: SigningState;
  /** Makes a new webhook secret, which signs from now on, and returns it. Throws `sandbox_misused` for a given scheme. */
  rotateSecret(): string;
  /** The credentials for access tokens: the first of the clients. */
  readonly client: SandboxClient;
  /** Returns a new bearer token without a request. The default of `ttlSeconds` is `accessTokenTtlSeconds`. */
  accessToken(options?: { ttlSeconds?: number }): string;
  /** Returns every access token that was issued, newest first. */
  accessTokens(): readonly SandboxToken[];
  /** Revokes every token that was issued so far, or the one with this id. */
  revokeAccessTokens(id?: string): void;

  /** Every scenario: the normal one, the catalogue, and the program's own. */
  readonly scenarios: readonly Scenario[];
  /** The name of the scenario of payments that ask for none; `random` draws one of the catalogue for each payment. */
  readonly currentScenario: string;
  /**
   * Makes a scenario the current one: by its name, `"random"`, or your own. With `for`, only the payment of that id or
   * clientId gets it, even a later one. Throws `sandbox_misused` if it is unknown or not valid.
   */
  scenario(scenario: string | Scenario, options?: { for?: string }): void;
  /** Adds or replaces your own scenario, and returns its name. Throws `sandbox_misused` if it is not valid. */
  addScenario(scenario: Scenario): string;

  /** The present behaviour where the interface document says nothing. */
  readonly settings: Readonly<SandboxSettings>;
  /** Changes settings. Throws `sandbox_misused`, and changes nothing, if a value is not allowed. */
  change(settings: Partial<SandboxSettings>): void;
}

/** Payments, and the customer's decisions. */
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
   * Completes a payment as if the customer had approved it, or does what its scenario says. Resolves with the first
   * attempt of each webhook, so it waits while webhooks are held or delayed. A canceled payment can be paid too. Throws
   * `sandbox_misused` for an unknown payment or provider, or a completed payment.
   */
  pay(idOrClientId: string, options?: { provider?: string }): Promise<Delivery[]>;
  /**
   * Cancels a pending payment as if the customer had. Resolves with the first attempts, of which there are none unless
   * `cancelWebhook` is on. Throws `sandbox_misused` for an unknown payment, or one that is not pending.
   */
  cancel(idOrClientId: string): Promise<Delivery[]>;
  /** Fails a pending payment as if the provider had refused it. Otherwise it is like `cancel`, with `failureWebhook`. */
  fail(idOrClientId: string): Promise<Delivery[]>;
}

/** Webhook addresses, and the webhooks themselves. */
export interface SandboxWebhookActions {
  /** The registered webhook addresses, in the order in which they were added. */
  readonly webhookAddresses: readonly WebhookAddress[];
  /** Adds an address to which webhooks are sent from now on. Throws `sandbox_misused` if the address is not allowed. */
  registerWebhook(url: string): WebhookAddress;
  /** Removes an address, given by its url or id. Neither webhooks nor retries are sent to it any more. */
  unregisterWebhook(urlOrId: string): void;
  /**
   * Sends a signed webhook without content to a registered address, once. Where fields are signed, it has an
   * invented pending payment. Throws `sandbox_misused` for an unknown address.
   */
  tryWebhook(urlOrId: string): Promise<Delivery>;
  /** Holds webhooks, so that a test can look at the merchant's page before they arrive. */
  holdWebhooks(): void;
  /** Sends the held webhooks, and holds no more. */
  releaseWebhooks(): void;
  /** Whether webhooks are held. */
  readonly webhooksHeld: boolean;
  /** Every attempt that has ended, in the order in which they ended. */
  readonly deliveries: readonly Delivery[];
  /** Sends the bytes of a delivery to its address once more, immediately. Throws `sandbox_misused` for an unknown id. */
  deliverAgain(deliveryId: string): Promise<Delivery>;
  /**
   * Sends the webhook that a test describes, immediately and once. Resolves with the merchant's response. The payment
   * does not change. Throws `sandbox_misused` if there is no such payment, no address, or no response.
   */
  sendWebhook(webhook: WebhookByHand): Promise<{ status: number; body: string }>;
  /** The last 100 requests for tokens and payments that were refused, oldest first, each with its reason. */
  readonly refusals: readonly Refusal[];
  /** Resolves when no webhook is being sent or waits for its next attempt. Held webhooks do not count. */
  settled(): Promise<void>;
}

/**
 * A stand-in for the payment service, for development and tests. docs/sandbox.md says what it does where the interface
 * document says nothing. Everything is in memory, unless the option `state` names a file.
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
  /** The sandbox's clock, which can be put forward, so that a test need not wait for retries or expiring tokens. */
  readonly clock: SandboxClock;
  /** Calls the listener for each event when it happens. Returns a function that ends this. */
  watch(listener: (event: SandboxEvent) => void): () => void;
}
