import { type Express } from "express";
import { type SandboxClock } from "./clock/clock.js";
import { type SandboxClient, type SandboxProvider } from "./options.js";
import { type Scenario } from "./scenario/scenario.js";
import { type WebhookAddress } from "./state/addresses.js";
import { type SandboxPayment } from "./state/payments.js";
import { type SandboxSettings } from "./state/settings.js";
import { type SigningState } from "./state/signing.js";
import { type SandboxToken } from "./state/tokens.js";
import { type Delivery } from "./webhook/delivery.js";
import { type WebhookOverrides } from "./webhook/message.js";

/** A webhook made by hand, for tests of what a merchant does with altered or forged ones. */
export interface WebhookByHand {
  /** The payment it is about: its id or its clientId. */
  payment: string;
  /**
   * Where to.
   * @default the first registered address
   */
  url?: string;
  /** Changes to the body; `undefined` takes a field away. */
  overrides?: WebhookOverrides;
  /** The body as it shall be sent, instead of the one made from the payment. */
  rawBody?: string | Uint8Array;
  /**
   * Makes the signature header's value; `undefined` leaves the header out.
   * @default the sandbox's own scheme, so that the webhook is correctly signed
   */
  sign?: (rawBody: Buffer) => string | undefined;
  /** Further headers, or replacements. */
  headers?: Record<string, string>;
}

/** Something that happened in the sandbox. */
export type SandboxEvent =
  | { type: "payment.created" | "payment.moved"; payment: SandboxPayment }
  | { type: "delivery"; delivery: Delivery };

/**
 * A stand-in for the payment service, for development and tests. It answers as the interface document says; where the
 * document is silent, `GET /not-shown` lists what it chose. Everything is in memory, unless the option `state` names a
 * file.
 */
export interface Sandbox {
  /** Listens; where a state file is given, only after taking over what it holds. Rejects when the port is taken. */
  start(): Promise<void>;
  /** Ends retries and held webhooks, closes every connection, and waits for what is under way. */
  close(): Promise<void>;

  /** The base address, known once it listens (or given as `publicUrl`). Before that it throws `sandbox_misused`. */
  readonly url: string;
  /** Where access tokens are obtained: `{url}/oauth/token`. */
  readonly tokenUrl: string;
  /**
   * The webhook secret; `undefined` where a signature scheme was given. With a state file it is known once started, and
   * throws `sandbox_misused` before.
   */
  readonly secret: string | undefined;
  /** How webhooks are signed, with every secret that the dashboard shows. */
  readonly signing: SigningState;
  /** Makes a new webhook secret, which signs from now on, and answers it. Throws `sandbox_misused` for a given scheme. */
  rotateSecret(): string;
  /** Credentials for access tokens: the first of the clients. */
  readonly client: SandboxClient;
  /** The Express application; usable without listening, in supertest for example. */
  readonly app: Express;
  /** The merchant's name on the pages. */
  readonly merchantName: string;
  /** The providers on the checkout page. */
  readonly providers: readonly SandboxProvider[];
  /** What makes ids and the scenario `random` repeatable, where it was given. */
  readonly seed: string | undefined;
  /** The file that everything lasts in; `undefined` where the sandbox forgets. */
  readonly state: string | undefined;

  /** A bearer token, without asking the token address. Lives for `accessTokenTtlSeconds` unless told otherwise. */
  accessToken(options?: { ttlSeconds?: number }): string;
  /** Every access token that was issued, newest first. */
  accessTokens(): readonly SandboxToken[];
  /** Makes every token issued so far useless, or the one with this id. */
  revokeAccessTokens(id?: string): void;

  /**
   * Creates a payment as if the merchant had, without the request; its return addresses lead nowhere unless they are
   * given. Throws `sandbox_misused` for a clientId that was used before.
   */
  create(payment: {
    clientId: string;
    total: { value: string; currency: string };
    /** @default a new one */
    id?: string;
    successUrl?: string;
    cancelUrl?: string;
  }): SandboxPayment;
  /** Every payment, oldest first. */
  payments(): readonly SandboxPayment[];
  /** By its id or clientId. */
  find(idOrClientId: string): SandboxPayment | undefined;
  /**
   * Completes a payment as if the customer had approved it, or does what its scenario has in place of that; resolves
   * with the first attempt of each webhook. Works on a canceled payment too: a real service may let it be paid after
   * all. While webhooks are held, or late, it waits for their release, or the clock. Throws `sandbox_misused` for an
   * unknown payment or provider, or a completed payment.
   */
  pay(idOrClientId: string, options?: { provider?: string }): Promise<Delivery[]>;
  /**
   * Cancels a pending payment as if the customer had. Resolves with the first attempts, of which there are none unless
   * `cancelWebhook` is on. Throws `sandbox_misused` for an unknown payment, or one that is not pending.
   */
  cancel(idOrClientId: string): Promise<Delivery[]>;
  /** The provider refuses the payment. Otherwise as `cancel`, with `failureWebhook`. */
  fail(idOrClientId: string): Promise<Delivery[]>;

  /** The registered webhook addresses, in the order in which they were added. */
  readonly webhookAddresses: readonly WebhookAddress[];
  /** Sends webhooks to this address too, from now on. Throws `sandbox_misused` for an address it may not call. */
  registerWebhook(url: string): WebhookAddress;
  /** Sends no more webhooks to this address (its url or id), nor retries. */
  unregisterWebhook(urlOrId: string): void;
  /**
   * Sends a correctly signed webhook about nothing to a registered address, once. (A scheme over fields has nothing to
   * sign in that; there it is about a pending payment that nobody created.) Throws `sandbox_misused` for an unknown one.
   */
  tryWebhook(urlOrId: string): Promise<Delivery>;
  /** Keeps webhooks back, so that a test can look at the merchant's page before they arrive. */
  holdWebhooks(): void;
  /** Sends what was held, and holds no longer. */
  releaseWebhooks(): void;
  /** Whether webhooks are held. */
  readonly webhooksHeld: boolean;
  /** Every attempt that has ended, in the order of ending. */
  readonly deliveries: readonly Delivery[];
  /** Sends the same bytes to the same address once more, at once. Throws `sandbox_misused` for an unknown id. */
  deliverAgain(deliveryId: string): Promise<Delivery>;
  /**
   * Sends one webhook made by hand, at once and once; resolves with the merchant's answer. The body says that the
   * payment is completed, whatever its state, and nothing in the sandbox changes. Throws `sandbox_misused` when there
   * is no such payment, no address, or no answer.
   */
  sendWebhook(webhook: WebhookByHand): Promise<{ status: number; body: string }>;
  /** Resolves when no webhook is being sent or waiting for its next attempt. Held ones are not waited for. */
  settled(): Promise<void>;

  /** Every scenario: the good day, the catalogue of bad ones, and the program's own. */
  readonly scenarios: readonly Scenario[];
  /** The name of the scenario that payments get unless they ask for another; `random` for one of the catalogue by chance. */
  readonly currentScenario: string;
  /**
   * From now on payments go through this scenario: one by its name, `"random"`, or one of your own. With `for`, only the
   * payment of that id or clientId does, which need not exist yet. Throws `sandbox_misused` for one that is unknown or
   * cannot be read.
   */
  scenario(scenario: string | Scenario, options?: { for?: string }): void;
  /**
   * Takes a scenario of your own in, in place of one with the same name, without giving it to any payment; answers its
   * name. Throws `sandbox_misused` for one that cannot be read.
   */
  addScenario(scenario: Scenario): string;

  /** What the interface document leaves open, as it is done now. */
  readonly settings: Readonly<SandboxSettings>;
  /** Does it otherwise from now on. Throws `sandbox_misused`, and changes nothing, where a value cannot be. */
  change(settings: Partial<SandboxSettings>): void;
  /** The sandbox's time, which can be put forward: tokens expire and retries happen without waiting. */
  readonly clock: SandboxClock;
  /** Calls the listener for everything that happens, as it happens; answers how to end that. */
  watch(listener: (event: SandboxEvent) => void): () => void;
}
