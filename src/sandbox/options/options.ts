import { type Scenario } from "../scenario/scenario.js";
import { type GivenSettings } from "../state/sandbox-settings.js";
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
export interface SandboxOptions extends GivenSettings {
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
  /** The clock for timestamps and lifetimes. @default the system clock */
  now?: (() => Date) | undefined;
}
