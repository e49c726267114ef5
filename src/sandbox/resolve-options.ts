import { ConfigurationError, type ConfigurationProblem } from "../errors/index.js";
import {
  type ResolvedOptions,
  type SandboxClient,
  type SandboxOptions,
  type SandboxProvider,
} from "./options.js";
import { catalogue, normal } from "./scenario/catalogue.js";
import { randomName, scenarioSchema } from "./scenario/scenario.js";
import { sandboxSecret } from "./state/sandbox-secret.js";
import { type SandboxSettings, settingsSchema } from "./state/settings.js";
import { schemeOf } from "./state/signing.js";
import { webhookAddressProblem } from "./webhook/address-problem.js";

/** Invented providers under codes of the kind that services use. */
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
  statuses: [],
  statusWebhooks: false,
  cancelWebhook: false,
  failureWebhook: false,
  accessTokenTtlSeconds: 3600,
  webhookDelayMs: 0,
  webhookTimeoutMs: 5000,
  retryDelaysMs: [1000, 5000, 30_000],
};

/** Fills in the defaults, or throws a ConfigurationError that lists every problem at once. */
export function resolveOptions(options: SandboxOptions): ResolvedOptions {
  const problems = findProblems(options);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const given = givenSettings(options);
  const { scenario = normal.name, scenarios = [] } = options;
  return {
    port: options.port ?? 0,
    host: options.host ?? "127.0.0.1",
    publicUrl: options.publicUrl?.replace(/\/+$/, ""),
    signature: options.signature,
    webhookUrls: options.webhookUrls ?? [],
    allowRemoteWebhooks: options.allowRemoteWebhooks ?? false,
    clients: options.clients ?? [{ clientId: "sandbox-merchant", clientSecret: sandboxSecret() }],
    merchantName: options.merchantName ?? "Sandbox merchant",
    providers: options.providers ?? defaultProviders,
    state: options.state,
    seed: options.seed,
    scenarios: typeof scenario === "string" ? scenarios : [...scenarios, scenario],
    scenario: typeof scenario === "string" ? scenario : scenario.name,
    settings: { ...defaultSettings, ...given },
    given: {
      clients: options.clients !== undefined,
      scenario: options.scenario !== undefined,
      settings: given,
    },
    now: options.now ?? (() => new Date()),
  };
}

function givenSettings(options: SandboxOptions): Partial<SandboxSettings> {
  const names = Object.keys(defaultSettings) as (keyof SandboxSettings)[];
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}

function findProblems(options: SandboxOptions): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const refuse = (option: string, message: string) =>
    problems.push({ code: "option_invalid", option, message });

  problems.push(...signatureProblems(options.signature));
  const remote = options.allowRemoteWebhooks ?? false;
  for (const url of options.webhookUrls ?? []) {
    const problem = webhookAddressProblem(url, remote);
    if (problem !== undefined) refuse("webhookUrls", problem);
  }
  if (options.publicUrl !== undefined && !/^https?:\/\/[^/\s]/i.test(options.publicUrl)) {
    refuse("publicUrl", "must start with http:// or https:// and a host.");
  }
  if (options.clients !== undefined && !identifiable(options.clients)) {
    refuse("clients", "name at least one, each with a clientId and a clientSecret that are not empty.");
  }
  if (options.providers !== undefined && !usable(options.providers)) {
    refuse("providers", "name at least one, each with a code of its own and a name.");
  }
  if (options.state?.trim() === "") refuse("state", "must be the path of a file.");
  for (const { path, message } of settingsSchema.partial().safeParse(givenSettings(options)).error?.issues ??
    []) {
    refuse(String(path[0]), `cannot be that: ${message}.`);
  }
  return [...problems, ...scenarioProblems(options)];
}

function signatureProblems(signature: SandboxOptions["signature"]): ConfigurationProblem[] {
  const refuse = (option: string, message: string): ConfigurationProblem[] => [
    { code: "option_invalid", option, message },
  ];
  if (signature === undefined) return [];
  if (!("scheme" in signature)) {
    if (typeof signature.sign === "function") return [];
    return refuse(
      "signature",
      "must have `sign`; a scheme that can only verify (a public key) cannot send webhooks.",
    );
  }
  if (signature.scheme !== "hmac" && signature.scheme !== "fields") {
    return refuse("signature.scheme", 'must be "hmac" or "fields".');
  }
  const { secret = sandboxSecret() } = signature;
  if (!secret.startsWith("sandbox_")) {
    return refuse("signature.secret", "must begin with sandbox_; a real secret does not belong here.");
  }
  try {
    schemeOf(signature, secret);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return [...error.problems];
    throw error;
  }
}

function scenarioProblems({ scenario, scenarios = [] }: SandboxOptions): ConfigurationProblem[] {
  const own = typeof scenario === "object" ? [...scenarios, scenario] : scenarios;
  const problems = own.flatMap((each, index) =>
    (scenarioSchema.safeParse(each).error?.issues ?? []).map(({ path, message }): ConfigurationProblem => ({
      code: "option_invalid",
      option: `scenarios.${[index, ...path].join(".")}`,
      message: `cannot be that: ${message}.`,
    })),
  );
  const names = [normal, ...catalogue, ...own].map(({ name }) => name);
  if (typeof scenario === "string" && scenario !== randomName && !names.includes(scenario)) {
    const message = `there is no scenario named ${JSON.stringify(scenario)}. There are: ${names.join(", ")}, ${randomName}.`;
    problems.push({ code: "option_invalid", option: "scenario", message });
  }
  return problems;
}

function identifiable(clients: readonly SandboxClient[]): boolean {
  return (
    clients.length > 0 &&
    clients.every(({ clientId, clientSecret }) => clientId !== "" && clientSecret !== "")
  );
}

function usable(providers: readonly SandboxProvider[]): boolean {
  const codes = new Set(providers.map(({ code }) => code));
  return (
    providers.length > 0 &&
    codes.size === providers.length &&
    providers.every(({ code, name }) => code.trim() !== "" && name.trim() !== "")
  );
}
