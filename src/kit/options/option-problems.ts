import { addressProblems } from "../../service/address.js";
import { serviceProblems } from "../../service/index.js";
import { lookupProblems } from "./lookup-options.js";
import { type FailureOptions, type SpoolDirectoryOptions, type PaymentsOptions } from "./options.js";
import { type ConfigurationProblem } from "../../errors/index.js";
import { checkCoverage } from "../../webhook/signature/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type PaymentStore } from "../../store/index.js";
import { defaults } from "./defaults.js";
import { type SignedField } from "../../model/signed-fields.js";
import { longestTimerMs } from "../../shared/whole-number.js";

/** What is wrong with the signature scheme; empty when nothing is. */
export function signatureProblems(scheme: SignatureScheme | undefined): ConfigurationProblem[] {
  const option = "signature";
  if (!scheme) {
    const message =
      "is not set; use hmacSignature, fieldsSignature or publicKeySignature. It cannot be left out.";
    return [{ code: "option_missing", option, message }];
  }
  if (typeof scheme.verify !== "function" || typeof scheme.header !== "string" || scheme.header === "") {
    return [{ code: "option_invalid", option, message: "must have a header and a verify function." }];
  }
  return checkCoverage(scheme);
}

const requiredMethods = [
  "transaction",
  "find",
  "lock",
  "save",
  "registerHandlers",
  "claim",
  "settle",
] as const;

/** The same for the store. */
export function storeProblems<Tx>(
  store: PaymentStore<Tx> | undefined,
  { NODE_ENV }: NodeJS.ProcessEnv,
): ConfigurationProblem[] {
  const option = "store";
  if (!store) {
    const message = 'is not set; sqliteStore("shop.db") of tillkit/sql is a good first one.';
    return [{ code: "option_missing", option, message }];
  }
  const lacking = requiredMethods.filter((method) => typeof store[method] !== "function");
  if (lacking.length > 0) {
    return [{ code: "option_invalid", option, message: `must have the methods ${lacking.join(", ")}.` }];
  }
  if (store.durable || NODE_ENV !== "production") return [];
  const message = "forgets everything at exit, and NODE_ENV is production; use a store that is durable.";
  return [{ code: "store_not_durable", option, message }];
}

/** Only http(s) addresses and paths: a template must not become a script or another host. */
export function returnAddressProblems(option: string, address: string | undefined): ConfigurationProblem[] {
  if (address === undefined) return [];
  // Control characters would be refused in a header, and half a character cannot be written at all.
  const isWritable = !/[\s\p{Cc}\p{Surrogate}]/u.test(address);
  const isPath = /^\/(?![/\\])[^\s\\]*$/.test(address);
  const isAbsolute = /^https?:\/\/[^\s\\{}/?#@]+([/?#][^\s\\]*)?$/.test(address);
  if (isWritable && (isPath || isAbsolute)) return [];
  const message =
    "must be a path such as /orders/{reference}, or an absolute http(s) address with a fixed host.";
  return [{ code: "option_invalid", option, message }];
}

/** Everything that is wrong with the options; empty when they can be used. */
export function problemsOf<Covers extends SignedField, Tx>(
  options: PaymentsOptions<Covers, Tx>,
  environment: NodeJS.ProcessEnv,
): ConfigurationProblem[] {
  const { publicUrl, service, signature, store, returns } = options;
  return [
    ...addressProblems("publicUrl", publicUrl),
    ...serviceProblems(service),
    ...signatureProblems(signature),
    ...storeProblems(store, environment),
    ...(options.spool ? spoolProblems(options.spool) : []),
    ...numberProblems("webhook.", options.webhook, defaults.webhook),
    ...failuresProblems(options.webhook?.failures),
    ...numberProblems("dispatch.", options.dispatch || {}, defaults.dispatch),
    ...numberProblems("", options, {
      reuseForMs: defaults.reuseForMs,
      overdueMs: defaults.overdueMs,
      sweepMs: defaults.sweepMs,
    }),
    ...lookupProblems(options),
    ...(["backUrl", "successUrl", "cancelUrl"] as const).flatMap((name) =>
      returnAddressProblems(`returns.${name}`, returns?.[name]),
    ),
  ];
}

export function spoolProblems({ directory, maxBytes }: SpoolDirectoryOptions): ConfigurationProblem[] {
  const isNamed = typeof directory === "string" && directory.trim() !== "";
  const message = "must name a local directory; leave the spool out, or set it to false, to have none.";
  const unnamed: ConfigurationProblem = { code: "option_missing", option: "spool.directory", message };
  return [...(isNamed ? [] : [unnamed]), ...numberProblems("spool.", { maxBytes }, defaults.spool)];
}

export function failuresProblems(failures: FailureOptions | false | undefined): ConfigurationProblem[] {
  if (failures === undefined || failures === false) return [];
  if (typeof failures === "object" && failures !== null)
    return numberProblems("webhook.failures.", failures, defaults.failures);
  const message = "must be { perMinute, burst }, or false for no limit.";
  return [{ code: "option_invalid", option: "webhook.failures", message }];
}

/** Options that become timers. */
export const timers: readonly string[] = [
  "recordTimeoutMs",
  "bodyTimeoutMs",
  "pollMs",
  "leaseMs",
  "handlerTimeoutMs",
  "sweepMs",
];

export function numberProblems(
  path: string,
  given: object | undefined,
  known: object,
): ConfigurationProblem[] {
  return Object.keys(known).flatMap((name): ConfigurationProblem[] => {
    const value: unknown = (given as Record<string, unknown> | undefined)?.[name];
    const most = timers.includes(name) ? longestTimerMs : Number.MAX_SAFE_INTEGER;
    const isRight = Number.isInteger(value) && (value as number) > 0 && (value as number) <= most;
    if (value === undefined || isRight) return [];
    const message = `must be a whole number from 1 to ${most}.`;
    return [{ code: "option_invalid", option: path + name, message }];
  });
}
