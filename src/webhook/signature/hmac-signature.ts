import { createSecretKey } from "node:crypto";
import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { hexLength, type HmacAlgorithm, hmacHex, hmacMatches, readHmacAlgorithm } from "./hmac.js";
import { readSecrets, type SecretOption } from "./secrets.js";
import { readHeaderName, readSignature } from "./signature-header.js";
import { type SigningScheme } from "./signing-scheme.js";

/** Options of {@link hmacSignature}. */
export interface HmacSignatureOptions {
  /**
   * The secret that the service issued, or a list of them during a rotation: all verify, the first signs. At least
   * 16 bytes; under 32 the scheme carries a warning. Text counts as its UTF-8 bytes.
   */
  secret: SecretOption;
  /** @default "sha256" */
  algorithm?: HmacAlgorithm | undefined;
  /**
   * The header that carries the signature; upper and lower case are the same.
   * @default "Service-Signature"
   */
  header?: string | undefined;
}

/**
 * HMAC over the raw body. Covers everything that the webhook says. The interface document leaves the algorithm open
 * (section 5.4); take this scheme where the service signs the whole body.
 *
 * @throws ConfigurationError `secret_missing`, `secret_too_short`, `secret_placeholder`,
 * `sandbox_credential_in_production` or `option_invalid`
 */
export function hmacSignature(options: HmacSignatureOptions): SigningScheme {
  const problems: ConfigurationProblem[] = [];
  const { secrets, warnings } = readSecrets(options.secret, problems);
  const algorithm = readHmacAlgorithm(options.algorithm, problems);
  const header = readHeaderName(options.header, problems);
  const keys = secrets.map((each) => createSecretKey(each));
  const [signing] = keys;
  if (problems.length > 0 || signing === undefined) throw new ConfigurationError(problems);

  return Object.freeze<SigningScheme>({
    header,
    covers: "body",
    warnings,
    verify({ rawBody, headers }) {
      const given = readSignature(headers, header, { exactly: hexLength(algorithm) });
      return hmacMatches(algorithm, keys, rawBody, given);
    },
    sign: (rawBody) => hmacHex(algorithm, signing, rawBody),
  });
}
