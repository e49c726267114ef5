import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { type PartialOptions, type PaymentsOptions } from "./options.js";
import { problemsOf } from "./option-problems.js";
import { clientCredentials, type AccessToken } from "../../service/index.js";
import { fieldsSignature, hmacSignature, publicKeySignature } from "../../webhook/signature/index.js";
import { type SignatureScheme } from "../../webhook/signature/scheme.js";
import { type SignedField } from "../../model/signed-fields.js";
import { type PaymentStore } from "../../store/index.js";
import { unknownOptions } from "../../shared/unknown-names.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type SqlTx } from "../../store/sql/index.js";
import { deferredStore } from "./deferred-store.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that sets each option: problems name the variable instead of the option. */
const variables: Readonly<Record<string, string>> = {
  publicUrl: "TILLKIT_PUBLIC_URL",
  "service.baseUrl": "TILLKIT_SERVICE_URL",
  "service.accessToken": "TILLKIT_ACCESS_TOKEN",
  "clientCredentials.tokenUrl": "TILLKIT_TOKEN_URL",
  "clientCredentials.clientId": "TILLKIT_CLIENT_ID",
  "clientCredentials.clientSecret": "TILLKIT_CLIENT_SECRET",
  "signature.scheme": "TILLKIT_SIGNATURE",
  "signature.secret": "TILLKIT_WEBHOOK_SECRET",
  "signature.secret[0]": "TILLKIT_WEBHOOK_SECRET",
  "signature.secret[1]": "TILLKIT_WEBHOOK_SECRET_PREVIOUS",
  "signature.merchantId": "TILLKIT_MERCHANT_ID",
  "signature.algorithm": "TILLKIT_SIGNATURE_ALGORITHM",
  "signature.header": "TILLKIT_SIGNATURE_HEADER",
  "signature.publicKey": "TILLKIT_PUBLIC_KEY",
  store: "TILLKIT_DATABASE",
  "spool.directory": "TILLKIT_SPOOL",
  clientIdPrefix: "TILLKIT_CLIENT_ID_PREFIX",
  lookup: "TILLKIT_LOOKUP",
  confirm: "TILLKIT_CONFIRM",
  "returns.backUrl": "TILLKIT_BACK_URL",
  "returns.successUrl": "TILLKIT_SUCCESS_URL",
  "returns.cancelUrl": "TILLKIT_CANCEL_URL",
  "returns.shopName": "TILLKIT_SHOP_NAME",
  "returns.contact": "TILLKIT_CONTACT",
  "returns.accent": "TILLKIT_ACCENT",
  "returns.logoUrl": "TILLKIT_LOGO_URL",
  "returns.backLabel": "TILLKIT_BACK_LABEL",
  "clientCredentials.scope": "TILLKIT_TOKEN_SCOPE",
  logger: "TILLKIT_LOG",
  // The command line's own.
  sandbox: "TILLKIT_SANDBOX_URL",
};

/**
 * Returns the options that the `TILLKIT_*` variables set. `paymentRouter()` without an argument uses it. The README lists
 * the variables.
 *
 * @throws ConfigurationError with every problem, by the names of the variables.
 */
export function optionsFromEnvironment(
  environment: Environment = process.env,
): PaymentsOptions<never, SqlTx> {
  return completeOptions({}, environment);
}

/**
 * Returns the given options, and what is not given from the `TILLKIT_*` variables. A given option wins, and the variables for
 * it are not read. `service` and `returns` are completed name by name; every other option is taken whole.
 *
 * @throws ConfigurationError with every problem, by the names of the variables for options that are not given.
 */
export function completeOptions<Covers extends SignedField, Tx>(
  given: PartialOptions<Covers, Tx>,
  environment: Environment = process.env,
): PaymentsOptions<Covers, Tx> {
  const problems: ConfigurationProblem[] = [];
  const read = (name: string): string | undefined => environment[`TILLKIT_${name}`]?.trim() || undefined;
  const attempt = <T>(make: () => T): T | undefined => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  };

  const readSwitch = (option: "lookup" | "logger"): boolean | undefined => {
    const value = given[option] === undefined ? environment[variables[option]!]?.trim() || "" : "";
    if (["", "on", "off"].includes(value)) return value === "" ? undefined : value === "on";
    problems.push({ code: "option_invalid", option, message: "must be on or off." });
    return undefined;
  };
  const { signature, store, service = {}, returns = {} } = given;
  const options: PaymentsOptions<Covers, Tx> = {
    publicUrl: read("PUBLIC_URL"),
    spool: spoolFrom(read("SPOOL")),
    clientIdPrefix: read("CLIENT_ID_PREFIX"),
    lookup: readSwitch("lookup"),
    // Another value becomes a problem that names the variable.
    confirm: read("CONFIRM") as "lookup" | undefined,
    ...(readSwitch("logger") === false && { logger: false }),
    ...withoutUndefined(given),
    // The overloads of the router make sure that the types are those of the environment where they are not given.
    signature: signature ?? (attempt(() => signatureFrom(read, environment)) as SignatureScheme<Covers>),
    store: store ?? (attempt(() => storeFrom(read("DATABASE"))) as PaymentStore as PaymentStore<Tx>),
    service: {
      baseUrl: read("SERVICE_URL"),
      ...withoutUndefined(service),
      accessToken: service.accessToken ?? attempt(() => accessTokenFrom(read)),
    },
    returns: {
      backUrl: read("BACK_URL"),
      successUrl: read("SUCCESS_URL"),
      cancelUrl: read("CANCEL_URL"),
      shopName: read("SHOP_NAME"),
      contact: read("CONTACT"),
      accent: read("ACCENT"),
      logoUrl: read("LOGO_URL"),
      backLabel: read("BACK_LABEL"),
      ...withoutUndefined(returns),
    },
  };

  // A part that could not be made has its own problems: that it is absent is not another one.
  const reported = new Set(problems.map(({ option }) => option.split(/[.[]/)[0]));
  const isReported = ({ option }: ConfigurationProblem) =>
    (option === "signature" && reported.has("signature")) ||
    (option === "store" && reported.has("store")) ||
    (option === "service.accessToken" && reported.has("clientCredentials"));
  problems.push(...problemsOf(options, environment as NodeJS.ProcessEnv).filter((one) => !isReported(one)));
  // TEST and BENCH are those of the kit's own tests and benchmark.
  const isOurs = ({ option }: ConfigurationProblem) => /^TILLKIT_(?!TEST_|BENCH_)/.test(option);
  problems.push(...unknownOptions("", environment, knownVariables).filter(isOurs));
  if (problems.length > 0)
    throw new ConfigurationError(problems.toSorted(inReadingOrder).map(byVariable({ ...given })));
  return options;
}

const knownVariables = Object.fromEntries(Object.values(variables).map((name) => [name, 1]));

type Read = (name: string) => string | undefined;

function accessTokenFrom(read: Read): AccessToken | undefined {
  const [tokenUrl, clientId, clientSecret] = [read("TOKEN_URL"), read("CLIENT_ID"), read("CLIENT_SECRET")];
  if ((tokenUrl ?? clientId ?? clientSecret) === undefined) return read("ACCESS_TOKEN");
  return clientCredentials({ tokenUrl, clientId, clientSecret, scope: read("TOKEN_SCOPE") });
}

function signatureFrom(read: Read, environment: Environment): SignatureScheme {
  const header = read("SIGNATURE_HEADER");
  const algorithm = read("SIGNATURE_ALGORITHM") as never;
  // Not trimmed: whitespace in a secret is a mistake to report, not to repair.
  const current = environment["TILLKIT_WEBHOOK_SECRET"];
  const previous = environment["TILLKIT_WEBHOOK_SECRET_PREVIOUS"];
  const secret = previous ? [current, previous] : current;
  const scheme = read("SIGNATURE") ?? "hmac";
  switch (scheme) {
    case "hmac":
      return hmacSignature({ secret, algorithm, header });
    case "fields":
      return fieldsSignature({ secret, algorithm, header, merchantId: read("MERCHANT_ID") });
    case "public-key": {
      // Environment variables often hold line breaks as \\n.
      const publicKey = read("PUBLIC_KEY")?.replaceAll("\\n", "\n");
      return publicKeySignature({ publicKey, algorithm, header });
    }
    default: {
      const message = "must be hmac, fields or public-key.";
      throw new ConfigurationError([{ code: "option_invalid", option: "signature.scheme", message }]);
    }
  }
}

function spoolFrom(spool: string | undefined): PaymentsOptions["spool"] {
  if (spool === undefined) return undefined;
  return /^off$/i.test(spool) ? false : { directory: spool };
}

function storeFrom(database: string | undefined): PaymentStore<SqlTx> | undefined {
  if (database === undefined) {
    const message = "is not set; give a file (shop.db), a postgres:// or a mysql:// address.";
    throw new ConfigurationError([{ code: "option_missing", option: "store", message }]);
  }
  return deferredStore(database);
}

const readingOrder = Object.keys(variables);

function inReadingOrder(a: ConfigurationProblem, b: ConfigurationProblem): number {
  return readingOrder.indexOf(a.option) - readingOrder.indexOf(b.option);
}

/** Returns a function that names the variable in a problem, unless its option was given. */
function byVariable(given: Readonly<Record<string, unknown>>) {
  return ({ code, option, message }: ConfigurationProblem): ConfigurationProblem => {
    const [group = "", name = ""] = option.split(/[.[]/);
    const own = given[group] as Readonly<Record<string, unknown>> | undefined;
    const isGiven = (group === "service" || group === "returns" ? own?.[name] : own) !== undefined;
    return { code, option: isGiven ? option : (variables[option] ?? option), message };
  };
}
