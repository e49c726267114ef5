import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { type SandboxOptions } from "../../sandbox/index.js";
import { type Context, type Arguments } from "../terminal/command.js";

/** The options of the sandbox, as the command line gave them; the sandbox itself judges what they say. */
export function sandboxOptions(args: Arguments, { cwd }: Context): SandboxOptions {
  const state = args.get("state");
  return {
    port: numberOf(args, "port") ?? 4000,
    host: args.get("host"),
    publicUrl: args.get("public-url"),
    webhookUrls: args.all("webhook"),
    allowRemoteWebhooks: args.has("allow-remote-webhooks"),
    signature: {
      scheme:
        (args.get("scheme") as "hmac" | "fields" | undefined) ??
        (args.get("merchant-id") ? "fields" : "hmac"),
      secret: args.get("secret"),
      header: args.get("header"),
      merchantId: args.get("merchant-id"),
    },
    clients: clientsOf(args),
    accessTokenTtlSeconds: numberOf(args, "token-ttl"),
    merchantName: args.get("merchant-name"),
    state: state === undefined ? undefined : path.resolve(cwd, state),
    seed: args.get("seed"),
    // Only what was switched on is said, so that a state file's own settings stay.
    strict: args.has("lenient") ? false : undefined,
    readBack: switched(args, "read-back"),
    echoClientId: switched(args, "echo-client-id"),
    cancelWebhook: switched(args, "cancel-webhook"),
    failureWebhook: switched(args, "failure-webhook"),
    statusWebhooks: switched(args, "status-webhooks"),
    statuses: listOf(args, "statuses") as SandboxOptions["statuses"],
    successStatus: numberOf(args, "success-status") as SandboxOptions["successStatus"],
    errorBodies: args.get("error-bodies") as SandboxOptions["errorBodies"],
    webhookDelayMs: numberOf(args, "webhook-delay"),
    webhookTimeoutMs: numberOf(args, "webhook-timeout"),
    retryDelaysMs: listOf(args, "retries")?.map((text) => readNumber("retries", text)),
  };
}

function switched(args: Arguments, name: string): true | undefined {
  return args.has(name) || undefined;
}

function clientsOf(args: Arguments): SandboxOptions["clients"] {
  const [clientId, clientSecret] = [args.get("client-id"), args.get("client-secret")];
  if (clientId === undefined && clientSecret === undefined) return undefined;
  if (clientSecret === undefined)
    throw new TillkitError("command_option_invalid", "--client-id needs --client-secret beside it.");
  return [{ clientId: clientId ?? "sandbox-merchant", clientSecret }];
}

function listOf(args: Arguments, name: string): string[] | undefined {
  const text = args.get(name);
  return text
    ?.split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function numberOf(args: Arguments, name: string): number | undefined {
  const text = args.get(name);
  return text === undefined ? undefined : readNumber(name, text);
}

function readNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new TillkitError("command_option_invalid", `--${name} must be a whole number, zero or more.`);
}
