import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { type NamesOf, requireOptions, unknownOptions } from "../../shared/unknown-names.js";
import { type SigningScheme, type VerifyInput } from "./scheme.js";
import { readSecrets, type SecretOption } from "./secrets.js";
import { readHeaderName, readSignature } from "./signature-header.js";

/** The hash function of an HMAC scheme. */
export type HmacAlgorithm = "sha256" | "sha384" | "sha512";

/** Options of {@link hmacSignature}. */
export interface HmacSignatureOptions {
  /**
   * The secret that the service issued, or a list of secrets during a rotation. All of them verify, and the
   * first one signs. A secret has at least 16 bytes. With fewer than 32 bytes, the scheme has a warning. A
   * string is used as its UTF-8 bytes.
   */
  secret: SecretOption;
  /** The hash function. @default "sha256" */
  algorithm?: HmacAlgorithm | undefined;
  /**
   * The name of the header with the signature, in any case.
   * @default "Service-Signature"
   */
  header?: string | undefined;
}

/**
 * Returns a scheme with an HMAC over the raw body, which covers all fields of the webhook. Use this scheme if
 * the service signs the whole body. The interface document leaves the algorithm open (section 5.4).
 *
 * @throws ConfigurationError `secret_missing`, `secret_too_short`, `secret_placeholder`,
 * `sandbox_credential_in_production` or `option_invalid`
 */
export function hmacSignature(options: HmacSignatureOptions): SigningScheme {
  const problems: ConfigurationProblem[] = [];
  const { header, warnings, readGiven, matches, sign } = readHmacOptions(options, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);

  return Object.freeze<SigningScheme>({
    header,
    covers: "body",
    warnings,
    verify: ({ rawBody, headers }) => matches(rawBody, readGiven(headers)),
    sign,
  });
}

/** The part that all HMAC schemes share. */
interface Hmac {
  header: string;
  warnings: readonly string[];
  /** Returns the signature in the headers. Throws `signature_missing` or `signature_malformed`. */
  readGiven: (headers: VerifyInput["headers"]) => Buffer;
  /** Returns whether one of the secrets made the signature. `given` comes from `readGiven`. */
  matches: (message: string | Buffer, given: Buffer) => boolean;
  /** Returns the HMAC of the message with the first secret, in lower-case hexadecimal. */
  sign: (message: string | Buffer) => string;
}

const digestBytes = { sha256: 32, sha384: 48, sha512: 64 } as const satisfies Record<HmacAlgorithm, number>;

const optionNames = { secret: 1, algorithm: 1, header: 1 } satisfies NamesOf<HmacSignatureOptions>;

/**
 * Reads the options that all HMAC schemes share, and adds their problems to `problems`. If there are
 * problems, do not use the result.
 *
 * @param others - The names of the scheme's other options.
 */
export function readHmacOptions(
  options: HmacSignatureOptions,
  problems: ConfigurationProblem[],
  others: object = {},
): Hmac {
  requireOptions("signature", options, "{ secret }");
  problems.push(...unknownOptions("signature.", options, { ...optionNames, ...others }));
  const { secrets, warnings } = readSecrets(options.secret, problems);
  const algorithm = readAlgorithm(options.algorithm, problems);
  const header = readHeaderName(options.header, problems);
  const length = { exactly: digestBytes[algorithm] * 2 };
  const keys = secrets.map((each) => createSecretKey(each));
  const hmac = (key: KeyObject, message: string | Buffer) =>
    createHmac(algorithm, key).update(message).digest("hex");

  return {
    header,
    warnings,
    readGiven: (headers) => readSignature(headers, header, length),
    matches(message, given) {
      let matches = 0;
      // All secrets are tried, so that the duration does not show which secret matched.
      for (const key of keys) {
        // A digest in hexadecimal is faster than one as bytes, which are allocated outside of the heap.
        const expected = Buffer.from(hmac(key, message), "hex");
        matches |= Number(timingSafeEqual(expected, given));
      }
      return matches === 1;
    },
    sign: (message) => hmac(keys[0]!, message),
  };
}

/** Returns the configured algorithm, or sha256. Adds an unknown one to `problems`. */
function readAlgorithm(
  algorithm: HmacAlgorithm | undefined,
  problems: ConfigurationProblem[],
): HmacAlgorithm {
  if (algorithm === undefined) return "sha256";
  if (typeof algorithm === "string" && Object.hasOwn(digestBytes, algorithm)) return algorithm;
  problems.push({
    code: "option_invalid",
    option: "signature.algorithm",
    message: `must be one of ${Object.keys(digestBytes).join(", ")}.`,
  });
  return "sha256";
}
