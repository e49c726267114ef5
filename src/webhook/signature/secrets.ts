import { types } from "node:util";
import { concealSecret } from "../../errors/conceal-secrets.js";
import { type ConfigurationProblem } from "../../errors/index.js";

/**
 * One shared secret, or several during a rotation: all of them verify, the first one signs. Text is taken as its
 * UTF-8 bytes. `undefined` is in the type so that `process.env.X` fits; it is refused at construction.
 */
export type SecretOption = string | Uint8Array | readonly (string | Uint8Array | undefined)[] | undefined;

/** Under this many bytes a secret is refused. */
const leastBytes = 16;
/** Under this many bytes a secret gets a warning: HMAC-SHA256 deserves 32, but services issue what they issue. */
const goodBytes = 32;

const sameThroughout = /^(.)\1*$/su;
const placeholders = [
  /^[x*._\-\s]+$/iu,
  /^(?:<.*>|\{.*\}|\[.*\]|\$\{.*\}|%.*%)$/su,
  /^change[-_ ]?(?:me|this|it)/iu,
  /^replace[-_ ]?(?:me|this|it|with)/iu,
  /^(?:your[-_ ]?|(?:insert|enter|put)[-_ ]).*(?:secret|key|token|here)/iu,
  /^(?:(?:secret|password)[-_. ]?\d{0,8})+$/iu,
  /placeholder/iu,
];

/** Copies of the configured secrets as bytes. What is wrong with them is added to `problems`, never their text. */
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
    const problem = bytes === undefined ? wrongType(option) : check(one, bytes, option);
    if (problem !== undefined) problems.push(problem);
    else if (bytes !== undefined) {
      secrets.push(bytes);
      concealSecret(bytes);
      if (bytes.length < goodBytes)
        warnings.push(`${option} is shorter than ${goodBytes} bytes; ask the service for a longer one.`);
    }
  }
  return { secrets, warnings };
}

function toBytes(secret: unknown): Buffer | undefined {
  if (secret === undefined || secret === null) return Buffer.alloc(0);
  if (typeof secret === "string") return Buffer.from(secret, "utf8");
  return types.isUint8Array(secret) ? Buffer.from(secret) : undefined;
}

function check(secret: unknown, bytes: Buffer, option: string): ConfigurationProblem | undefined {
  const text = bytes.toString("latin1");
  if (text.trim() === "") return missing(option);
  if (typeof secret === "string" && secret !== secret.trim())
    return {
      code: "option_invalid",
      option,
      message: "begins or ends with a space or a line break; paste the secret without it.",
    };
  // Bytes that are no text may look like anything: one random key in some ten thousand stands between braces.
  const isText = typeof secret === "string" || /^[ -~]*$/.test(text);
  if (sameThroughout.test(text) || (isText && placeholders.some((pattern) => pattern.test(text))))
    return {
      code: "secret_placeholder",
      option,
      message: "is a placeholder; use the secret that the service issued.",
    };
  if (bytes.length < leastBytes)
    return {
      code: "secret_too_short",
      option,
      message: `is shorter than ${leastBytes} bytes and could be guessed; use it as the service issued it.`,
    };
  // The one place that sees the secret: once it is in the scheme's closure nobody can look.
  if (text.startsWith("sandbox_") && process.env["NODE_ENV"] === "production")
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
