import { type HmacAlgorithm, type ListedField, type SignatureScheme } from "../webhook/signature/index.js";
import { type Scenario } from "./scenario/scenario.js";
import { type intermediateStatuses, type SandboxSettings } from "./state/settings.js";

/** What can sign a webhook: any scheme of tillkit that has `sign`, or an object of your own. */
export type SandboxSignature = Pick<SignatureScheme, "header" | "sign">;

/** A scheme that the sandbox makes itself, so that the secret can be shown and rotated on its dashboard. */
export interface SandboxSigning {
  /** `hmac`: over the raw body. `fields`: over fields of the body, joined by commas. */
  scheme: "hmac" | "fields";
  /**
   * Must begin with `sandbox_`, so that nobody takes it for a real one, or puts a real one here.
   * @default a generated one
   */
  secret?: string | undefined;
  /** @default "Service-Signature" */
  header?: string | undefined;
  /** @default "sha256" */
  algorithm?: HmacAlgorithm | undefined;
  /**
   * With `fields`: the merchant's identifier, which is signed along.
   * @default "sandbox-merchant"
   */
  merchantId?: string | undefined;
  /**
   * With `fields`: what is signed, in this order.
   * @default as fieldsSignature
   */
  fields?: readonly ListedField[] | undefined;
}

/** Credentials with which a merchant obtains access tokens. */
export interface SandboxClient {
  clientId: string;
  clientSecret: string;
}

/** A provider that the customer can choose on the checkout page. */
export interface SandboxProvider {
  /** Short code of the provider channel; becomes `data.source` of the webhook. */
  code: string;
  /** The name that the customer reads. */
  name: string;
}

/** How the sandbox behaves. Every option has a default; `undefined` means the default. */
export interface SandboxOptions {
  /**
   * Port to listen on; 0 takes a free one.
   * @default 0
   */
  port?: number | undefined;
  /**
   * Interface to listen on. The default is reachable from this machine only.
   * @default "127.0.0.1"
   */
  host?: string | undefined;
  /**
   * Address under which browsers and the merchant reach the sandbox, where that is not the address it listens on.
   * @default the address it listens on
   */
  publicUrl?: string | undefined;
  /**
   * What signs the webhooks (interface document, section 5: the algorithm is not shown). A scheme object is used as it
   * is; its secret stays unknown to the sandbox, which then can neither show nor rotate it.
   * @default { scheme: "hmac" }
   */
  signature?: SandboxSignature | SandboxSigning | undefined;
  /**
   * Addresses that webhooks are sent to from the start (4.4).
   * @default []
   */
  webhookUrls?: readonly string[] | undefined;
  /**
   * Whether webhooks may go to other machines. Without it only `localhost` and loopback addresses are accepted.
   * @default false
   */
  allowRemoteWebhooks?: boolean | undefined;
  /**
   * Who may obtain access tokens.
   * @default one generated client, see `sandbox.client`
   */
  clients?: readonly SandboxClient[] | undefined;
  /**
   * Lifetime of an access token in seconds.
   * @default 3600
   */
  accessTokenTtlSeconds?: number | undefined;
  /**
   * The merchant's name on the checkout page.
   * @default "Sandbox merchant"
   */
  merchantName?: string | undefined;
  /**
   * The providers on the checkout page.
   * @default three invented ones: MVK, HOL and PYP
   */
  providers?: readonly SandboxProvider[] | undefined;
  /**
   * An SQLite file that the sandbox's state lasts in: payments, addresses, deliveries, tokens, secrets, settings, and
   * webhooks on their way. Options that are given win over what the file holds.
   * @default none: the sandbox forgets everything at its end
   */
  state?: string | undefined;
  /**
   * Makes ids and the choices of the scenario `random` repeatable: the same calls give the same ones. Secrets and tokens
   * stay random.
   * @default none
   */
  seed?: string | undefined;
  /**
   * The scenario that payments go through unless they ask for another: a name, `"random"`, or one of your own.
   * @default "normal"
   */
  scenario?: string | Scenario | undefined;
  /**
   * Scenarios of your own, known by their names besides the sandbox's.
   * @default []
   */
  scenarios?: readonly Scenario[] | undefined;
  /**
   * Whether what the interface document does not allow is refused with a message that teaches: an amount that is a
   * number, an unknown currency, a clientId that was used before, a content type other than JSON. Without it, the
   * sandbox takes what it can make sense of.
   * @default true
   */
  strict?: boolean | undefined;
  /**
   * Status of the answer to a creation. The interface document does not show it.
   * @default 201
   */
  successStatus?: SandboxSettings["successStatus"] | undefined;
  /**
   * How errors are answered: JSON with status, title and detail; no body; or a page.
   * @default "problem"
   */
  errorBodies?: SandboxSettings["errorBodies"] | undefined;
  /**
   * Further statuses that a payment passes through once the customer approved, in this order.
   * @default []
   */
  statuses?: readonly (typeof intermediateStatuses)[number][] | undefined;
  /**
   * Whether a webhook tells of each of those.
   * @default false
   */
  statusWebhooks?: boolean | undefined;
  /**
   * Whether the creation response carries `clientId` in `data`. The interface document (2.1) says it does not.
   * @default false
   */
  echoClientId?: boolean | undefined;
  /**
   * Whether `GET /v1/payments/{id}` and `GET /v1/payments` answer. The interface document does not show them.
   * @default false
   */
  readBack?: boolean | undefined;
  /**
   * Whether a cancel sends a webhook with topic `payment.canceled`. The interface document shows none.
   * @default false
   */
  cancelWebhook?: boolean | undefined;
  /**
   * Whether a failure sends a webhook with topic `payment.failed`. The interface document shows none.
   * @default false
   */
  failureWebhook?: boolean | undefined;
  /**
   * Milliseconds between the change and its webhook, so that a person can see the merchant's page waiting.
   * @default 0
   */
  webhookDelayMs?: number | undefined;
  /**
   * Milliseconds that the merchant has to answer one webhook.
   * @default 5000
   */
  webhookTimeoutMs?: number | undefined;
  /**
   * Milliseconds before each further attempt of a webhook that was not answered 2xx; `[]` sends it once.
   * @default [1000, 5000, 30000]
   */
  retryDelaysMs?: readonly number[] | undefined;
  /**
   * The clock, for timestamps and token lifetimes.
   * @default the system clock
   */
  now?: (() => Date) | undefined;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  port: number;
  host: string;
  publicUrl: string | undefined;
  signature: SandboxSignature | SandboxSigning | undefined;
  webhookUrls: readonly string[];
  allowRemoteWebhooks: boolean;
  clients: readonly SandboxClient[];
  merchantName: string;
  providers: readonly SandboxProvider[];
  state: string | undefined;
  seed: string | undefined;
  scenarios: readonly Scenario[];
  scenario: string;
  settings: SandboxSettings;
  /** What was given, rather than left to its default: it wins over a state file. */
  given: { clients: boolean; scenario: boolean; settings: Partial<SandboxSettings> };
  now: () => Date;
}
