import { ConfigurationError, type ConfigurationProblem, type ErrorCode } from "../../errors/index.js";
import { hmacSignature } from "../../webhook/signature/index.js";
import { makeScheme } from "../sign/make-scheme.js";
import { whyNoSecret } from "../sign/signature-settings.js";
import { isLocal } from "./check-public-url.js";
import { type AsyncFindings, type DoctorCode, finding, type Findings } from "./findings.js";
import { type ProbedSubject } from "./subject.js";

/**
 * The doctor's code for each code of the kit. `option_invalid` means white space or quotes around a secret.
 */
const secretCodes: Partial<Record<ErrorCode, DoctorCode>> = {
  secret_missing: "secret_missing",
  secret_too_short: "secret_too_short",
  secret_placeholder: "secret_placeholder",
  option_invalid: "secret_padded",
};

/** Checks the secret, or the public key, by the kit's own rules. */
export function* checkWebhookSecret({ settings, outside }: ProbedSubject): Findings {
  if (outside) return;
  if (settings.scheme === "public-key") {
    for (const { message } of kitProblems(() => makeScheme(settings)))
      yield finding("key_invalid", `The public key ${message}`);
    return;
  }
  if (settings.secrets.length === 0)
    yield finding("secret_missing", `The environment has no webhook secret: ${whyNoSecret(settings)}`);
  for (const { text, from } of settings.secrets) {
    let warnings: readonly string[] = [];
    for (const { code, message } of kitProblems(() => ({ warnings = [] } = hmacSignature({ secret: text }))))
      if (secretCodes[code]) yield finding(secretCodes[code], `The secret of ${from} ${message}`);
    if (warnings.length > 0) yield finding("secret_weak", `The secret of ${from} is shorter than 32 bytes.`);
  }
}

/** Runs `start`, and returns the problems of the `ConfigurationError` that `start` throws. */
export function kitProblems(start: () => unknown): readonly ConfigurationProblem[] {
  try {
    start();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/**
 * Checks that an app in production uses nothing of a test setup, and that a public app runs in production.
 */
export function* checkProduction(subject: ProbedSubject): Findings {
  const { environment, isProduction, publicUrl, settings, outside } = subject;
  if (isProduction) {
    const isSandbox = (text = "") => text.trim().startsWith("sandbox_");
    const given = settings.secrets.filter(
      ({ text, from }) => isSandbox(text) && environment[from] === undefined,
    );
    const variables = Object.keys(environment).filter((name) => isSandbox(environment[name]));
    const names = [...variables, ...given.map(({ from }) => from)];
    if (names.length > 0)
      yield finding(
        "sandbox_credential_in_production",
        `NODE_ENV is production, but these variables have a credential of the sandbox: ${names.join(", ")}.`,
      );
    for (const name of ["TILLKIT_SERVICE_URL", "TILLKIT_TOKEN_URL"])
      if (isLocal(environment[name]))
        yield finding("service_url_local", `NODE_ENV is production, but ${name} leads to a local address.`);
  } else if (!outside && publicUrl?.startsWith("https:") && !isLocal(publicUrl)) {
    const is = environment["NODE_ENV"] ? `is ${environment["NODE_ENV"]}` : "is not set";
    yield finding("node_env_not_production", `The shop is public at ${publicUrl}, but NODE_ENV ${is}.`);
  }
}

/** The options whose problems another check reports in more detail. */
const checkedElsewhere = /^(TILLKIT_WEBHOOK_SECRET|TILLKIT_PUBLIC_KEY|file|urlOrPool|signature)/;
/** The variables that another check examines if they are set. */
const checkedIfSet = ["TILLKIT_PUBLIC_URL", "TILLKIT_DATABASE"];

/**
 * Checks the variables that no other check examines, by the kit's own rules. Skips an app that sets neither
 * `TILLKIT_PUBLIC_URL` nor `TILLKIT_SERVICE_URL`.
 */
export async function* checkKitOptions(subject: ProbedSubject): AsyncFindings {
  const { environment, outside, database } = subject;
  const isConfigured = environment["TILLKIT_PUBLIC_URL"] || environment["TILLKIT_SERVICE_URL"];
  if (outside || !isConfigured) return;
  // This import loads Express, which the other commands do not need.
  const { optionsFromEnvironment } = await import("../../index.js");
  for (const { code, option, message } of kitProblems(() => optionsFromEnvironment(environment))) {
    if (code === "secret_missing" && hasOtherSecret(subject))
      yield finding("secret_missing", `${option} ${message}`);
    if (checkedElsewhere.test(option) || code === "sandbox_credential_in_production") continue;
    if (checkedIfSet.includes(option) && environment[option]) continue;
    if (option !== "TILLKIT_DATABASE") yield finding("configuration_invalid", `${option} ${message}`);
    else if (!database)
      yield finding(
        "store_unnamed",
        "No database was checked, because neither TILLKIT_DATABASE nor --store names a database.",
      );
  }
}

/**
 * Returns whether one of the kit's two variables has a secret. `checkWebhookSecret` then does not report that
 * the other variable is blank, but the kit refuses to start.
 */
function hasOtherSecret({ settings }: ProbedSubject): boolean {
  const { secrets, secretVariables } = settings;
  return secrets.some(({ from }) => from.startsWith("TILLKIT_") && secretVariables.includes(from));
}
