import path from "node:path";
import {
  catalogue,
  readScenarioFile,
  type SandboxOptions,
  type SandboxProvider,
  type Scenario,
} from "../../sandbox/index.js";
import { type HmacAlgorithm, type ListedField } from "../../webhook/signature/index.js";
import { refuseOptions } from "../sign/signature-settings.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type Context } from "../terminal/command.js";

const scenarioNames = catalogue.map(({ name }) => name).join(", ");

/** The options of `tillkit sandbox`. Each of them sets an option of `createSandbox`. */
export const sandboxOptions = {
  "--port <number>": "The port to listen on; 0 chooses a free port. Default: 4000.",
  "--host <name>":
    "The network interface to listen on. Default: 127.0.0.1, which only this machine can reach.",
  "--public-url <url>":
    "The address at which browsers and the shop reach the sandbox. Default: the address it listens on.",
  "--webhook <url> ...": "An address to which the sandbox sends webhooks.",
  "--allow-remote-webhooks": "Allows webhook addresses on other machines.",
  "--scheme <hmac|fields>":
    "The signature scheme: hmac signs the whole body, fields signs some fields of the body. Default: hmac.",
  "--algorithm <name>": "The signature algorithm: sha256, sha384 or sha512. Default: sha256.",
  "--fields <list>":
    "With --scheme fields: the signed fields in order, separated by commas. Default: the kit's own list.",
  "--header <name>": "The name of the signature header. Default: Service-Signature.",
  "--merchant-id <id>": "With --scheme fields: the merchant's identifier, which is also signed.",
  "--secret <text>": "The webhook secret, which must begin with sandbox_. Default: a generated secret.",
  "--client-id <id>": "The id of the client that may obtain access tokens. Default: sandbox-merchant.",
  "--client-secret <text>":
    "The client's secret, with which the client obtains access tokens. Default: a generated secret.",
  "--token-ttl <seconds>": "The lifetime of an access token. Default: 3600.",
  "--merchant-name <text>": "The shop's name on the checkout page.",
  "--providers <list>":
    "The providers on the checkout page, separated by commas: MVK=Mvuko Mobile,HOL=Holoni.",
  "--state <file>": "A SQLite file in which the sandbox stores its data. Default: the data is lost at exit.",
  "--seed <text>": "Generates the same ids, and the same choices of the scenario random, in each run.",
  "--scenario <name>": `The scenario of new payments: ${scenarioNames}, random, or your own JSON file, followed by #name if the file has several scenarios. Default: normal.`,
  "--lenient": "Accepts, where possible, requests that the interface document does not allow.",
  "--read-back": "Answers GET /v1/payments and /v1/payments/{id}.",
  "--read-back-bare": "Like --read-back, but without the envelope around the payments.",
  "--echo-client-id": "Includes the clientId in the answer to a creation.",
  "--cancel-webhook": "Sends payment.canceled when a customer cancels a payment.",
  "--failure-webhook": "Sends payment.failed when a payment fails.",
  "--statuses <list>":
    "The statuses of a payment before completed, separated by commas: init, submitted, approved, captured.",
  "--status-webhooks": "Sends a webhook for each of the --statuses.",
  "--success-status <200|201|202>": "The HTTP status of the answer to a creation. Default: 201.",
  "--error-bodies <problem|bare|html>": "The format of error answers. Default: problem, which is JSON.",
  "--webhook-delay <ms>": "The pause before each webhook. Default: 0.",
  "--webhook-timeout <ms>": "The time limit for the shop's answer to a webhook. Default: 5000.",
  "--retries <list>":
    'The pauses in ms before the repeated attempts to send a webhook; "" for a single attempt. Default: 1000,5000,30000.',
};

/** Returns the options for `createSandbox`, which checks them. */
export function readSandboxOptions(args: Arguments, { cwd }: Context): SandboxOptions {
  const state = args.get("state");
  const merchantId = args.get("merchant-id");
  const fields = listOf(args, "fields") as readonly ListedField[] | undefined;
  const scheme =
    (args.get("scheme") as "hmac" | "fields" | undefined) ?? (merchantId || fields ? "fields" : "hmac");
  refuseOptions(args, { scheme }, "fields", ["fields", "merchant-id"]);
  const isBare = args.has("read-back-bare") || undefined;
  return {
    port: numberOption(args, "port") ?? 4000,
    host: args.get("host"),
    publicUrl: args.get("public-url"),
    webhookUrls: args.all("webhook"),
    allowRemoteWebhooks: args.has("allow-remote-webhooks"),
    signature: {
      scheme,
      secret: args.get("secret"),
      header: args.get("header"),
      algorithm: args.get("algorithm") as HmacAlgorithm | undefined,
      merchantId,
      fields,
    },
    clients: clientsOf(args),
    accessTokenTtlSeconds: numberOption(args, "token-ttl"),
    merchantName: args.get("merchant-name"),
    providers: listOf(args, "providers")?.map(providerOf),
    state: state === undefined ? undefined : path.resolve(cwd, state),
    seed: args.get("seed"),
    // Switches that are not given stay `undefined`, so that the settings in a state file are kept.
    strict: args.has("lenient") ? false : undefined,
    readBack: args.has("read-back") || isBare,
    readBackBare: isBare,
    echoClientId: args.has("echo-client-id") || undefined,
    cancelWebhook: args.has("cancel-webhook") || undefined,
    failureWebhook: args.has("failure-webhook") || undefined,
    statusWebhooks: args.has("status-webhooks") || undefined,
    statuses: listOf(args, "statuses") as SandboxOptions["statuses"],
    successStatus: numberOption(args, "success-status") as SandboxOptions["successStatus"],
    errorBodies: args.get("error-bodies") as SandboxOptions["errorBodies"],
    webhookDelayMs: numberOption(args, "webhook-delay"),
    webhookTimeoutMs: numberOption(args, "webhook-timeout"),
    retryDelaysMs: listOf(args, "retries")?.map((text) => readNumber("retries", text)),
  };
}

function clientsOf(args: Arguments): SandboxOptions["clients"] {
  const [clientId = "sandbox-merchant", clientSecret] = [args.get("client-id"), args.get("client-secret")];
  if (clientSecret !== undefined) return [{ clientId, clientSecret }];
  if (args.has("client-id")) throw optionError("--client-id also needs --client-secret.");
  return undefined;
}

function providerOf(given: string): SandboxProvider {
  const [code = "", ...name] = given.split("=");
  return { code: code.trim(), name: name.join("=").trim() || code.trim() };
}

function listOf(args: Arguments, name: string): string[] | undefined {
  const parts = args.get(name)?.split(",");
  return parts?.map((part) => part.trim()).filter((part) => part !== "");
}

function numberOption(args: Arguments, name: string): number | undefined {
  const text = args.get(name);
  return text === undefined ? undefined : readNumber(name, text);
}

function readNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw optionError(`--${name} must be a whole number, zero or more.`);
}

/**
 * Reads a scenario from a JSON file, such as `week.json` or `week.json#late`. Any other text is returned as
 * the name of a scenario. Throws `file_unreadable`, `scenario_file_invalid` or `command_operand_invalid`.
 */
export async function readScenarioOption(given: string, { cwd }: Context): Promise<string | Scenario> {
  const [, file, name] = /^(.+\.json)(?:#(.*))?$/.exec(given) ?? [];
  if (file === undefined) return given;
  const scenarios = await readScenarioFile(path.resolve(cwd, file));
  if (name === undefined && scenarios.length === 1) return scenarios[0]!;
  const chosen = scenarios.find((scenario) => scenario.name === name);
  if (chosen) return chosen;
  const names = scenarios.map((scenario) => `${file}#${scenario.name}`);
  throw operandError(`Choose one of the file's scenarios: ${names.join(", ")}.`);
}
