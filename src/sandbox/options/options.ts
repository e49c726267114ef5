import { type Scenario } from "../scenario/scenario.js";
import { type SandboxSettings } from "../state/sandbox-settings.js";
import { type SandboxSignature, type SandboxSigning } from "../state/signing.js";
import { type SandboxClient } from "../state/tokens.js";

/** A provider that the customer can choose on the checkout page. */
export interface SandboxProvider {
  /** The short code of the provider, which becomes `data.source` of the webhook. */
  code: string;
  /** The name that the customer reads. */
  name: string;
}

/** The options of a sandbox. Each one has a default; `undefined` means the default. */
export interface SandboxOptions {
  /** The port to listen on; 0 chooses a free one. @default 0 */
  port?: number | undefined;
  /** The network interface to listen on. The default is reachable from this machine only. @default "127.0.0.1" */
  host?: string | undefined;
  /** The address under which browsers and the merchant reach the sandbox. @default the address it listens on */
  publicUrl?: string | undefined;
  /**
   * How webhooks are signed. The sandbox can neither show nor rotate the secret of a scheme object.
   * @default { scheme: "hmac" }
   */
  signature?: SandboxSignature | SandboxSigning | undefined;
  /** The addresses to which webhooks are sent from the start (4.4). @default [] */
  webhookUrls?: readonly string[] | undefined;
  /** Whether webhooks may go to other machines than this one. @default false */
  allowRemoteWebhooks?: boolean | undefined;
  /** The clients that may obtain access tokens. @default one generated client, see `sandbox.client` */
  clients?: readonly SandboxClient[] | undefined;
  /** The lifetime of an access token in seconds. @default 3600 */
  accessTokenTtlSeconds?: number | undefined;
  /** The merchant's name on the checkout page. @default "Sandbox merchant" */
  merchantName?: string | undefined;
  /** The providers on the checkout page. @default three invented ones: MVK, HOL and PYP */
  providers?: readonly SandboxProvider[] | undefined;
  /** An SQLite file that holds the state between runs. Options that are given have precedence. @default none */
  state?: string | undefined;
  /** Makes ids and the draws of the scenario `random` repeatable; secrets and tokens are not. @default none */
  seed?: string | undefined;
  /** The scenario of payments that ask for no other: a name, `"random"`, or your own scenario. @default "normal" */
  scenario?: string | Scenario | undefined;
  /** Your own scenarios, in addition to those of the sandbox. @default [] */
  scenarios?: readonly Scenario[] | undefined;
  /**
   * Whether a request that the interface document does not allow is refused with a message that explains why.
   * @default true
   */
  strict?: boolean | undefined;
  /** The HTTP status of the response to a creation. The interface document does not show it. @default 201 */
  successStatus?: SandboxSettings["successStatus"] | undefined;
  /** The form of error responses: JSON with status, title and detail; no body; or a page. @default "problem" */
  errorBodies?: SandboxSettings["errorBodies"] | undefined;
  /** The statuses that a payment takes after the approval and before `completed`, in this order. @default [] */
  statuses?: Readonly<SandboxSettings["statuses"]> | undefined;
  /** Whether a webhook reports each of the `statuses`. @default false */
  statusWebhooks?: boolean | undefined;
  /** Whether the response to a creation has `clientId` in `data`; the document (2.1) says no. @default false */
  echoClientId?: boolean | undefined;
  /** Whether `GET /v1/payments/{id}` and `GET /v1/payments` work; the document shows neither. @default false */
  readBack?: boolean | undefined;
  /** Whether payments that are read back stand alone, and not under `data`. @default false */
  readBackBare?: boolean | undefined;
  /** Whether a cancel sends `payment.canceled`; the document shows no such webhook. @default false */
  cancelWebhook?: boolean | undefined;
  /** Whether a failure sends `payment.failed`; the document shows no such webhook. @default false */
  failureWebhook?: boolean | undefined;
  /** Milliseconds between a change and its webhook, so that a person can see the merchant's page wait. @default 0 */
  webhookDelayMs?: number | undefined;
  /** Milliseconds after which a webhook without a response has failed. @default 5000 */
  webhookTimeoutMs?: number | undefined;
  /** Milliseconds before each retry of a webhook; `[]` sends it once. @default [1000, 5000, 30000] */
  retryDelaysMs?: readonly number[] | undefined;
  /** The clock for timestamps and lifetimes. @default the system clock */
  now?: (() => Date) | undefined;
}
