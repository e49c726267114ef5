import { ConfigurationError, type ErrorCode } from "../../errors/index.js";
import { hmacSignature } from "../../webhook/signature/index.js";
import { type Finding } from "../terminal/finding.js";
import { makeScheme } from "../sign/make-scheme.js";
import { type FoundSecret, whyNoSecret } from "../sign/signature-settings.js";
import { type DoctorCode, found } from "./findings.js";
import { type Patient } from "./subject.js";

/** Whether what webhooks are verified with can be used, by the kit's own rules. */
export function checkSecret({ settings, environment, outside }: Patient): Finding[] {
  if (outside) return [];
  if (settings.scheme === "public-key") return checkKey();
  if (settings.secrets.length > 0) return settings.secrets.flatMap(judgeSecret);
  const why = whyNoSecret(settings, environment);
  return [found("secret_missing", `The environment has no webhook secret: ${why}`)];

  function checkKey(): Finding[] {
    try {
      makeScheme(settings);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.problems.map(({ message }) => found("key_invalid", `The public key ${message}`));
    }
  }
}

const codes: Partial<Record<ErrorCode, DoctorCode>> = {
  secret_missing: "secret_missing",
  secret_too_short: "secret_too_short",
  secret_placeholder: "secret_placeholder",
  // The one thing about a secret's text that has no code of its own.
  option_invalid: "secret_padded",
};

function judgeSecret({ text, from }: FoundSecret): Finding[] {
  try {
    const { warnings = [] } = hmacSignature({ secret: text });
    return warnings.length === 0
      ? []
      : [found("secret_weak", `The secret of ${from} is shorter than 32 bytes.`)];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.flatMap(({ code, message }) =>
      codes[code] ? [found(codes[code], `The secret of ${from} ${message}`)] : [],
    );
  }
}
