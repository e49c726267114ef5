import { type ConfigurationProblem } from "../../errors/index.js";
import { type SignedField } from "../../model/signed-fields.js";
import { addressProblems, serviceProblems } from "../../service/service-options.js";
import { type NamesOf, suggestion, unknownOptions } from "../../shared/unknown-names.js";
import { isWholeNumber, maxTimerMs } from "../../shared/whole-number.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type PaymentStore } from "../../store/index.js";
import { storeMethods } from "../../store/store-methods.js";
import { checkCoverage } from "../../webhook/signature/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { defaults } from "./defaults.js";
import {
  type FailureOptions,
  type PathOptions,
  type PaymentsOptions,
  type ReturnOptions,
  type SpoolDirectoryOptions,
} from "./options.js";

const { reuseForMs, overdueMs, sweepMs, unmatchedAfterMs } = defaults;
const ownNumbers = { reuseForMs, overdueMs, sweepMs, unmatchedAfterMs };

const label = [/^\P{Cc}{1,200}$/u, "1 to 200 characters without control characters"] as const;

/** What the merchant puts on the return pages. The origin of a logo becomes a part of the Content-Security-Policy. */
const looks = {
  shopName: label,
  contact: label,
  backLabel: label,
  accent: [/^#[\da-f]{6}$/i, "a colour in the form #0b6650"],
  logoUrl: [
    /^(https:\/\/[\w.-]+(:\d{1,5})?)?\/(?![/\\])[^\s\\\p{Cc}]*$/u,
    "an https address, or a path such as /logo.svg on the shop's host",
  ],
} as const;

/** The options that are no numbers, by the object that contains them. */
const otherNames = {
  kit: {
    publicUrl: 1,
    service: 1,
    signature: 1,
    store: 1,
    paths: 1,
    webhook: 1,
    spool: 1,
    health: 1,
    returns: 1,
    dispatch: 1,
    clientIdPrefix: 1,
    lookup: 1,
    confirm: 1,
    logger: 1,
    now: 1,
  } satisfies NamesOf<Omit<PaymentsOptions, keyof typeof ownNumbers>>,
  returns: {
    backUrl: 1,
    successUrl: 1,
    cancelUrl: 1,
    ...looks,
    render: 1,
  } satisfies NamesOf<ReturnOptions>,
};

/** Returns all problems of the options; empty when the kit can use them. */
export function problemsOf<Covers extends SignedField, Tx>(
  options: PaymentsOptions<Covers, Tx>,
  environment: NodeJS.ProcessEnv,
): ConfigurationProblem[] {
  const { publicUrl, service, signature, store, webhook, dispatch, returns } = options;
  return [
    ...numberProblems("", options, ownNumbers, otherNames.kit),
    ...unknownOptions("returns.", returns, otherNames.returns),
    ...addressProblems("publicUrl", publicUrl),
    ...serviceProblems(service),
    ...signatureProblems(signature),
    ...storeProblems(store, environment),
    ...(options.spool ? spoolProblems(options.spool, options.store) : []),
    ...pathProblems(options.paths),
    ...numberProblems("webhook.", webhook, defaults.webhook, { failures: 1 }),
    ...failuresProblems(webhook?.failures),
    ...numberProblems("dispatch.", dispatch || {}, defaults.dispatch),
    ...numberProblems("health.", options.health, defaults.health),
    ...prefixProblems(options.clientIdPrefix),
    ...lookupProblems(options.lookup),
    ...confirmProblems(options),
    ...(["backUrl", "successUrl", "cancelUrl"] as const).flatMap((name) =>
      returnAddressProblems(`returns.${name}`, returns?.[name]),
    ),
    ...lookProblems(returns),
  ];
}

function invalid(option: string, message: string): ConfigurationProblem[] {
  return [{ code: "option_invalid", option, message }];
}

/** Returns the problems of the signature scheme. */
function signatureProblems(scheme: SignatureScheme | undefined): ConfigurationProblem[] {
  const option = "signature";
  if (!scheme) {
    const message =
      "is not set; use hmacSignature, fieldsSignature or publicKeySignature. It cannot be left out.";
    return [{ code: "option_missing", option, message }];
  }
  if (typeof scheme.verify !== "function" || typeof scheme.header !== "string" || scheme.header === "") {
    return invalid(option, "must have a header and a verify function.");
  }
  return checkCoverage(scheme);
}

/** Returns the problems of the store. */
function storeProblems<Tx>(
  store: PaymentStore<Tx> | undefined,
  { NODE_ENV }: NodeJS.ProcessEnv,
): ConfigurationProblem[] {
  const option = "store";
  if (!store) {
    const message = 'is not set; sqliteStore("shop.db") of tillkit/sql is a good first one.';
    return [{ code: "option_missing", option, message }];
  }
  const lacking = storeMethods.filter((method) => typeof store[method] !== "function");
  if (lacking.length > 0)
    return invalid(
      option,
      `must have the methods ${lacking.join(", ")}. Make it with sqliteStore, postgresStore or mysqlStore of tillkit/sql, ` +
        "or over a database of your own with storeOver.",
    );
  if (store.durable || NODE_ENV !== "production") return [];
  const message = "loses its data at exit, and NODE_ENV is production; use a store that is durable.";
  return [{ code: "store_not_durable", option, message }];
}

const placeholders = ["reference", "clientId"];

/** Returns the problems of a return address. It must not become a script or another host. */
function returnAddressProblems(option: string, address: unknown): ConfigurationProblem[] {
  if (address === undefined) return [];
  const used = typeof address === "string" ? [...address.matchAll(/\{(\w*)\}/g)] : [];
  const unknown = used.find(([, name = ""]) => !placeholders.includes(name));
  if (unknown) {
    const meant = suggestion(
      unknown[0],
      placeholders.map((name) => `{${name}}`),
    );
    return invalid(option, `has the placeholder ${unknown[0]}, which is not known. ${meant}`);
  }
  if (typeof address === "string" && isReturnAddress(address)) return [];
  return invalid(
    option,
    "must be a path such as /orders/{reference}, or an absolute http(s) address with a fixed host.",
  );
}

function isReturnAddress(address: string): boolean {
  // A header cannot hold control characters, nor half a surrogate pair.
  if (/[\s\p{Cc}\p{Surrogate}]/u.test(address)) return false;
  return /^\/(?![/\\])[^\s\\]*$/.test(address) || /^https?:\/\/[^\s\\{}/?#@]+([/?#][^\s\\]*)?$/.test(address);
}

/** Returns the problems of the router's paths. Express would read other characters as a pattern. */
function pathProblems(given: PathOptions | undefined): ConfigurationProblem[] {
  const paths = { ...defaults.paths, ...withoutUndefined(given ?? {}) };
  const names = Object.keys(defaults.paths) as (keyof PathOptions)[];
  const isPath = (path: unknown) =>
    typeof path === "string" && /^(\/(?!\.+(\/|$))[A-Za-z0-9._-]+)+$/.test(path);
  // Express ignores capitals.
  const within = (path: string, other: string) =>
    `${path}/`.toLowerCase().startsWith(`${other}/`.toLowerCase());
  const wrong = names.flatMap((name): ConfigurationProblem[] => {
    const path: string = paths[name];
    if (!isPath(path))
      return invalid(`paths.${name}`, "must be a path such as /pay/webhook: letters, digits, . _ and -");
    const other = names.find((one) => one !== name && isPath(paths[one]) && within(path, paths[one]));
    return other ? invalid(`paths.${name}`, `must not be the same as paths.${other}, nor below it.`) : [];
  });
  return [...unknownOptions("paths.", given, defaults.paths), ...wrong];
}

function lookProblems(returns: ReturnOptions = {}): ConfigurationProblem[] {
  return (Object.keys(looks) as (keyof typeof looks)[]).flatMap((name) => {
    const value: unknown = returns[name];
    const [pattern, form] = looks[name];
    if (value === undefined || (typeof value === "string" && pattern.test(value))) return [];
    return invalid(`returns.${name}`, `must be a string: ${form}.`);
  });
}

function spoolProblems(given: SpoolDirectoryOptions, store: unknown): ConfigurationProblem[] {
  const { directory = (Object(store) as { spoolDirectory?: unknown }).spoolDirectory } = given;
  const isNamed = typeof directory === "string" && directory.trim() !== "";
  const message = "must name a local directory; leave the spool out, or set it to false, to have none.";
  const unnamed: ConfigurationProblem = { code: "option_missing", option: "spool.directory", message };
  return [
    ...(isNamed ? [] : [unnamed]),
    ...numberProblems("spool.", given, defaults.spool, { directory: 1 }),
  ];
}

function failuresProblems(failures: FailureOptions | false | undefined): ConfigurationProblem[] {
  if (failures === undefined || failures === false) return [];
  if (typeof failures === "object" && failures !== null)
    return numberProblems("webhook.failures.", failures, defaults.failures);
  return invalid("webhook.failures", "must be { perMinute, burst }, or false for no limit.");
}

function prefixProblems(clientIdPrefix: unknown): ConfigurationProblem[] {
  const isPrefix = typeof clientIdPrefix === "string" && /^[A-Za-z0-9._:-]{1,24}$/.test(clientIdPrefix);
  if (clientIdPrefix === undefined || isPrefix) return [];
  return invalid("clientIdPrefix", "must be 1 to 24 characters of A-Z a-z 0-9 . _ : -, or left out.");
}

function lookupProblems(lookup: unknown): ConfigurationProblem[] {
  if (lookup === undefined || typeof lookup === "boolean") return [];
  if (typeof lookup === "object" && lookup !== null)
    return numberProblems("lookup.", lookup, defaults.lookup);
  return invalid("lookup", "must be true, false, or an object of options.");
}

function confirmProblems<Covers extends SignedField, Tx>({
  confirm,
  lookup,
}: PaymentsOptions<Covers, Tx>): ConfigurationProblem[] {
  if (confirm === undefined) return [];
  if (confirm !== "lookup") return invalid("confirm", 'must be "lookup", or left out.');
  if (lookup) return [];
  return invalid("confirm", 'is "lookup", and nothing is looked up: set lookup: true, or leave confirm out.');
}

/** The maximum of a duration: 100 years. With a longer one, the kit could compute a time that no Date can hold. */
const maxDurationMs = 36_525 * 24 * 60 * 60 * 1000;

/** The maximum of options that become timers, and of rates. Of the others, only durations have one. */
const maximums: Readonly<Record<string, number>> = {
  recordTimeoutMs: maxTimerMs,
  bodyTimeoutMs: maxTimerMs,
  pollMs: maxTimerMs,
  leaseMs: maxTimerMs,
  handlerTimeoutMs: maxTimerMs,
  sweepMs: maxTimerMs,
  timeoutMs: maxTimerMs,
  afterReturnMs: maxTimerMs,
  perSecond: 10_000,
};

/** Returns a problem for each option that is not known, and for each number that is not whole or beyond its limits. */
function numberProblems(
  path: string,
  given: object | undefined,
  known: object,
  others: object = {},
): ConfigurationProblem[] {
  const wrong = Object.keys(known).flatMap((name): ConfigurationProblem[] => {
    const value: unknown = (given as Record<string, unknown> | undefined)?.[name];
    const max = maximums[name] ?? (name.endsWith("Ms") ? maxDurationMs : Number.MAX_SAFE_INTEGER);
    return value === undefined || isWholeNumber(value, 1, max)
      ? []
      : invalid(path + name, `must be a whole number from 1 to ${max}.`);
  });
  return [...unknownOptions(path, given, { ...known, ...others }), ...wrong];
}
