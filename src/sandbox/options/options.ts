import { z } from "zod";
import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { requireOptions, suggestion, type NamesOf, unknownOptions } from "../../shared/unknown-names.js";
import { isWholeNumber } from "../../shared/whole-number.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { catalogue, normal } from "../scenario/catalogue.js";
import { randomName, type Scenario } from "../scenario/scenario.js";
import { scenarioSchema } from "../scenario/scenario-schema.js";
import { webhookAddressProblem } from "../state/addresses.js";
import { createSandboxSecret } from "../state/random.js";
import { type GivenSettings, type SandboxSettings } from "../state/sandbox-settings.js";
import { settingsSchema } from "../state/settings-schema.js";
import { createScheme, type SandboxSignature, type SandboxSigning } from "../state/signing.js";
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
  /**
   * The network interface to listen on. With the default, only this machine can reach the sandbox.
   * @default "127.0.0.1"
   */
  host?: string | undefined;
  /** The sandbox's address for browsers and for the merchant. @default the listening address */
  publicUrl?: string | undefined;
  /**
   * The signature of webhooks. The sandbox can neither show nor rotate the secret of a scheme object.
   * @default { scheme: "hmac" }
   */
  signature?: SandboxSignature | SandboxSigning | undefined;
  /** The addresses to which webhooks are sent from the start. @default [] */
  webhookUrls?: readonly string[] | undefined;
  /** Whether webhooks may go to other machines than this one. @default false */
  allowRemoteWebhooks?: boolean | undefined;
  /** The clients that may obtain access tokens. @default one generated client, see `sandbox.client` */
  clients?: readonly SandboxClient[] | undefined;
  /** The merchant's name on the checkout page. @default "Sandbox merchant" */
  merchantName?: string | undefined;
  /** The providers on the checkout page. @default three invented ones: MVK, HOL and PYP */
  providers?: readonly SandboxProvider[] | undefined;
  /** An SQLite file for the state between runs. Given options have precedence over it. @default none */
  state?: string | undefined;
  /** Makes ids and the draws of `random` repeatable, but not secrets and tokens. @default none */
  seed?: string | undefined;
  /**
   * The scenario of payments that do not ask for a scenario: a name, `"random"` or a scenario.
   * @default "normal"
   */
  scenario?: string | Scenario | undefined;
  /** Your own scenarios, in addition to those of the sandbox. @default [] */
  scenarios?: readonly Scenario[] | undefined;
  /** The clock for timestamps and lifetimes. @default the system clock */
  now?: (() => Date) | undefined;
}

/** Invented providers, with codes like those of real services. */
const defaultProviders: readonly SandboxProvider[] = [
  { code: "MVK", name: "Mvuko Mobile" },
  { code: "HOL", name: "Holoni" },
  { code: "PYP", name: "Payapi Wallet" },
];

const defaultSettings: SandboxSettings = {
  strict: true,
  successStatus: 201,
  errorBodies: "problem",
  echoClientId: false,
  readBack: false,
  readBackBare: false,
  statuses: [],
  statusWebhooks: false,
  cancelWebhook: false,
  failureWebhook: false,
  accessTokenTtlSeconds: 3600,
  webhookDelayMs: 0,
  webhookTimeoutMs: 5000,
  retryDelaysMs: [1000, 5000, 30_000],
};

/** The constant defaults of the options. */
const defaultOptions = {
  port: 0,
  host: "127.0.0.1",
  webhookUrls: [],
  allowRemoteWebhooks: false,
  merchantName: "Sandbox merchant",
  providers: defaultProviders,
  scenario: normal.name,
  scenarios: [],
  now: () => new Date(),
} satisfies SandboxOptions;

/** The options with their defaults filled in. */
export type ResolvedSandboxOptions = ReturnType<typeof resolveSandboxOptions>;

/** Returns the options with their defaults. Throws a ConfigurationError that lists every problem. */
export function resolveSandboxOptions(options: SandboxOptions) {
  requireOptions("createSandbox", options, "{ webhookUrls }");
  const problems = findOptionProblems(options);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const { clients, publicUrl } = options;
  const settings = givenSettings(options);
  const resolved = { ...defaultOptions, ...withoutUndefined(options) };
  const { scenario, scenarios } = resolved;
  return {
    ...resolved,
    publicUrl: publicUrl?.replace(/(?<!\/)\/+$/, ""),
    clients: clients ?? [{ clientId: "sandbox-merchant", clientSecret: createSandboxSecret() }],
    scenarios: typeof scenario === "string" ? scenarios : [...scenarios, scenario],
    scenario: typeof scenario === "string" ? scenario : scenario.name,
    settings: { ...defaultSettings, ...settings },
    given: { clients: clients !== undefined, scenario: options.scenario !== undefined, settings },
  };
}

function givenSettings(options: SandboxOptions): Partial<SandboxSettings> {
  const known = Object.entries(withoutUndefined(options)).filter(([name]) => name in defaultSettings);
  return Object.fromEntries(known);
}

const clientsSchema = z
  .array(z.object({ clientId: z.string().min(1), clientSecret: z.string().min(1) }))
  .min(1);
const providersSchema = z
  .array(z.object({ code: z.string().trim().min(1), name: z.string().trim().min(1) }))
  .min(1)
  .refine((providers) => new Set(providers.map(({ code }) => code)).size === providers.length);

const sandboxOptionNames = {
  ...defaultSettings,
  ...defaultOptions,
  publicUrl: 1,
  signature: 1,
  clients: 1,
  state: 1,
  seed: 1,
} satisfies NamesOf<SandboxOptions>;

function optionProblem(option: string, message: string): ConfigurationProblem {
  return { code: "option_invalid", option, message };
}

function findOptionProblems(options: SandboxOptions): ConfigurationProblem[] {
  const problems = [
    ...unknownOptions("", options, sandboxOptionNames),
    ...findSignatureProblems(options.signature),
  ];
  const refuse = (option: string, message: string) => problems.push(optionProblem(option, message));
  const { allowRemoteWebhooks = false, webhookUrls = [], port = 0, publicUrl } = options;
  const { clients, providers, state } = options;
  if (!isWholeNumber(port, 0, 65_535)) refuse("port", "must be a whole number from 0 to 65535.");
  for (const url of webhookUrls) {
    const reason = webhookAddressProblem(url, allowRemoteWebhooks);
    if (reason !== undefined) refuse("webhookUrls", reason);
  }
  if (publicUrl !== undefined && !/^https?:\/\/[^/\s]/i.test(publicUrl))
    refuse("publicUrl", "must start with http:// or https:// and a host.");
  if (clients !== undefined && !clientsSchema.safeParse(clients).success)
    refuse("clients", "must have at least one client, each with a clientId and a clientSecret.");
  if (providers !== undefined && !providersSchema.safeParse(providers).success)
    refuse("providers", "must have at least one provider, each with a name and a code that no other has.");
  if (state?.trim() === "") refuse("state", "must be the path of a file.");
  const settings = settingsSchema.partial().safeParse(givenSettings(options));
  for (const { path, message } of settings.error?.issues ?? [])
    refuse(String(path[0]), `has a value that is not allowed: ${message}.`);
  return [...problems, ...findScenarioProblems(options)];
}

function findSignatureProblems(signature: SandboxOptions["signature"]): readonly ConfigurationProblem[] {
  if (signature === undefined) return [];
  if (!("scheme" in signature)) {
    if (typeof signature.sign === "function") return [];
    const message = "must have `sign`; a scheme that can only verify (a public key) cannot send webhooks.";
    return [optionProblem("signature", message)];
  }
  const { scheme, secret = createSandboxSecret(), header, algorithm, merchantId, fields } = signature;
  const names = { scheme, secret, header, algorithm, merchantId, fields };
  const unknown = unknownOptions("signature.", signature, names satisfies NamesOf<SandboxSigning>);
  if (unknown.length > 0) return unknown;
  if (scheme !== "hmac" && scheme !== "fields")
    return [optionProblem("signature.scheme", 'must be "hmac" or "fields".')];
  if (!secret.startsWith("sandbox_"))
    return [optionProblem("signature.secret", "must begin with sandbox_; never use a real secret here.")];
  try {
    createScheme(signature, secret);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

function findScenarioProblems({ scenario, scenarios = [] }: SandboxOptions): ConfigurationProblem[] {
  const own = typeof scenario === "object" ? [...scenarios, scenario] : scenarios;
  const problems = (z.array(scenarioSchema).safeParse(own).error?.issues ?? []).map(({ path, message }) =>
    optionProblem(`scenarios.${path.join(".")}`, `is not valid: ${message}.`.replace("?.", "?")),
  );
  const names = [...[normal, ...catalogue, ...own].map(({ name }) => name), randomName];
  if (typeof scenario !== "string" || names.includes(scenario)) return problems;
  const message = `there is no scenario named ${JSON.stringify(scenario)}. ${suggestion(scenario, names)}`;
  return [...problems, optionProblem("scenario", message)];
}
