import { ConfigurationError, type ConfigurationProblem, type ErrorCode } from "../../errors/index.js";
import { hmacSignature } from "../../webhook/signature/index.js";
import { makeScheme } from "../sign/make-scheme.js";
import { type FoundSecret, whyNoSecret } from "../sign/signature-settings.js";
import { type Finding } from "../terminal/finding.js";
import { isLocal } from "./check-public-url.js";
import { type DoctorCode, finding } from "./findings.js";
import { type ProbedSubject } from "./subject.js";

/** Checks the secret, or the public key, by the kit's own rules. */
export function checkSecret({ settings, environment, outside }: ProbedSubject): Finding[] {
  if (outside) return [];
  if (settings.scheme === "public-key")
    return problemsOf(() => makeScheme(settings)).map(({ message }) =>
      finding("key_invalid", `The public key ${message}`),
    );
  if (settings.secrets.length > 0) return settings.secrets.flatMap(checkText);
  const why = whyNoSecret(settings, environment);
  return [finding("secret_missing", `The environment has no webhook secret: ${why}`)];
}

const secretCodes: Partial<Record<ErrorCode, DoctorCode>> = {
  secret_missing: "secret_missing",
  secret_too_short: "secret_too_short",
  secret_placeholder: "secret_placeholder",
  // The only problem of a secret that has no code of its own.
  option_invalid: "secret_padded",
};

function checkText({ text, from }: FoundSecret): Finding[] {
  let warnings: readonly string[] = [];
  const problems = problemsOf(() => ({ warnings = [] } = hmacSignature({ secret: text })));
  if (warnings.length > 0) return [finding("secret_weak", `The secret of ${from} is shorter than 32 bytes.`)];
  return problems.flatMap(({ code, message }) =>
    secretCodes[code] ? [finding(secretCodes[code], `The secret of ${from} ${message}`)] : [],
  );
}

/** Returns the problems for which the kit does not start. */
function problemsOf(start: () => unknown): readonly ConfigurationProblem[] {
  try {
    start();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** Checks that production has no part of a test setup, and that a public shop runs as production. */
export function checkProduction(subject: ProbedSubject): Finding[] {
  const { environment, isProduction, publicUrl, settings, outside } = subject;
  if (isProduction) {
    const isSandbox = (text = "") => text.trim().startsWith("sandbox_");
    const names = [
      ...Object.keys(environment).filter((name) => isSandbox(environment[name])),
      ...settings.secrets
        .filter(({ text, from }) => isSandbox(text) && environment[from] === undefined)
        .map(({ from }) => from),
    ];
    const local = ["TILLKIT_SERVICE_URL", "TILLKIT_TOKEN_URL"].filter((name) => isLocal(environment[name]));
    const found = (code: DoctorCode, seen: string) => finding(code, `NODE_ENV is production, and ${seen}.`);
    return [
      ...(names.length === 0
        ? []
        : [
            found(
              "sandbox_credential_in_production",
              `these have a credential of the sandbox: ${names.join(", ")}`,
            ),
          ]),
      ...local.map((name) => found("service_url_local", `${name} leads to this machine or its network`)),
    ];
  }
  if (outside || !publicUrl?.startsWith("https:") || isLocal(publicUrl)) return [];
  const is = environment["NODE_ENV"] ? `is ${environment["NODE_ENV"]}` : "is not set";
  return [finding("node_env_not_production", `The shop is public, at ${publicUrl}, and NODE_ENV ${is}.`)];
}

/** Options that have a check of their own, which says more. */
const checkedElsewhere = /^(TILLKIT_WEBHOOK_SECRET|TILLKIT_PUBLIC_KEY|file|urlOrPool|signature)/;
/** Variables that have a check of their own if they are set. */
const checkedIfSet = ["TILLKIT_PUBLIC_URL", "TILLKIT_DATABASE"];

/**
 * Checks everything that the kit would refuse to start with. Only for an app that is configured by the environment alone: such
 * an app sets variables that only the kit reads.
 */
export async function checkOptions({ environment, outside }: ProbedSubject): Promise<Finding[]> {
  const isConfigured = environment["TILLKIT_PUBLIC_URL"] || environment["TILLKIT_SERVICE_URL"];
  if (outside || !isConfigured) return [];
  // Imported here, because it loads Express, which the other commands do not need.
  const { optionsFromEnvironment } = await import("../../index.js");
  return problemsOf(() => optionsFromEnvironment(environment))
    .filter(
      ({ code, option }) => !checkedElsewhere.test(option) && code !== "sandbox_credential_in_production",
    )
    .filter(({ option }) => !(checkedIfSet.includes(option) && environment[option]))
    .map(({ option, message }) => finding("configuration_invalid", `${option} ${message}`));
}
