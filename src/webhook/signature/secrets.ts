import { types } from "node:util";
import { concealSecret } from "../../errors/conceal-secrets.js";
import { type ConfigurationProblem } from "../../errors/index.js";
import { isQuoted } from "../../shared/is-quoted.js";
import { isProduction } from "../../shared/is-production.js";

/**
 * One shared secret, or several during a rotation. All of them verify, and the first one signs. A string is
 * used as its UTF-8 bytes. The type allows `undefined` so that `process.env.X` fits, but a scheme refuses
 * `undefined`.
 */
export type SecretOption = string | Uint8Array | readonly (string | Uint8Array | undefined)[] | undefined;

/** The minimum length of a secret, in bytes. A shorter secret is refused. */
const minBytes = 16;
/** The recommended length of a secret, in bytes. A shorter secret gets a warning. */
const recommendedBytes = 32;

const oneCharacter = /^(.)\1*$/su;
const placeholderSecrets = [
  /^[x*._\-\s]+$/iu,
  /^(?:<.*>|\{.*\}|\[.*\]|\$\{.*\}|%.*%)$/su,
  /^change[-_ ]?(?:me|this|it)/iu,
  /^replace[-_ ]?(?:me|this|it|with)/iu,
  /^(?:your[-_ ]?|(?:insert|enter|put)[-_ ]).*(?:secret|key|token|here)/iu,
  /^(?:(?:secret|password)[-_. ]?\d{0,8})+$/iu,
  /placeholder/iu,
];

/** Returns the configured secrets as bytes. Adds problems to `problems`, never with the text of a secret. */
export function readSecrets(
  secret: SecretOption,
  problems: ConfigurationProblem[],
): { secrets: Buffer[]; warnings: string[] } {
  const secrets: Buffer[] = [];
  const warnings: string[] = [];
  const listed = Array.isArray(secret);
  const given: readonly unknown[] = listed ? secret : [secret];
  if (given.length === 0) problems.push(missing("signature.secret"));
  for (const [index, one] of given.entries()) {
    const option = listed ? `signature.secret[${index}]` : "signature.secret";
    const bytes = toBytes(one);
    const problem = bytes === undefined ? wrongType(option) : checkSecret(one, bytes, option);
    if (problem !== undefined) problems.push(problem);
    else if (bytes !== undefined) {
      secrets.push(bytes);
      concealSecret(bytes);
      if (bytes.length < recommendedBytes)
        warnings.push(
          `${option} is shorter than ${recommendedBytes} bytes; ask the service for a longer one.`,
        );
    }
  }
  return { secrets, warnings };
}

function toBytes(secret: unknown): Buffer | undefined {
  if (secret === undefined || secret === null) return Buffer.alloc(0);
  if (typeof secret === "string") return Buffer.from(secret, "utf8");
  return types.isUint8Array(secret) ? Buffer.from(secret) : undefined;
}

function checkSecret(secret: unknown, bytes: Buffer, option: string): ConfigurationProblem | undefined {
  const text = bytes.toString("latin1");
  if (text.trim() === "") return missing(option);
  if (typeof secret === "string" && secret !== secret.trim())
    return {
      code: "option_invalid",
      option,
      message: "begins or ends with a space or a line break; paste the secret without it.",
    };
  if (typeof secret === "string" && isQuoted(secret))
    return {
      code: "option_invalid",
      option,
      message: "has quotes around it, as some readers of variables leave them; remove the quotes.",
    };
  // Random bytes can match a pattern by chance, so only text is compared with the patterns.
  const isText = typeof secret === "string" || /^[ -~]*$/.test(text);
  if (oneCharacter.test(text) || (isText && placeholderSecrets.some((pattern) => pattern.test(text))))
    return {
      code: "secret_placeholder",
      option,
      message: "is a placeholder; use the secret that the service issued.",
    };
  if (bytes.length < minBytes)
    return {
      code: "secret_too_short",
      option,
      message: `is shorter than ${minBytes} bytes and could be guessed; use it as the service issued it.`,
    };
  // This check is here, because the scheme does not give its secret to later checks.
  if (text.startsWith("sandbox_") && isProduction())
    return {
      code: "sandbox_credential_in_production",
      option,
      message: "is a secret of the sandbox, and NODE_ENV is production; use the service's own.",
    };
  return undefined;
}

function missing(option: string): ConfigurationProblem {
  return {
    code: "secret_missing",
    option,
    message:
      "is missing or blank; set the secret that the service issued. Verification cannot be switched off.",
  };
}

function wrongType(option: string): ConfigurationProblem {
  return { code: "option_invalid", option, message: "must be text, bytes, or a list of them." };
}
