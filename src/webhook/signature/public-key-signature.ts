import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import {
  algorithmRules,
  isPublicKeyAlgorithm,
  type PublicKeyAlgorithm,
  readKey,
  warningAbout,
} from "./public-keys.js";
import { type NamesOf, requireOptions, unknownOptions } from "../../shared/unknown-names.js";
import { type SignatureScheme, type SigningScheme } from "./scheme.js";
import { readHeaderName, readSignature } from "./signature-header.js";

/** Options of {@link publicKeySignature}. */
export interface PublicKeySignatureOptions {
  /** The service's public key as PEM text or a KeyObject, or a list of them during a rotation. */
  publicKey: string | KeyObject | readonly (string | KeyObject | undefined)[] | undefined;
  /**
   * The algorithm, which must fit the key. For ECDSA, the signature has the DER form. `rsa-sha256` is PKCS #1
   * v1.5. `rsa-pss-sha256` uses MGF1 with SHA-256, unless the key's parameters name another digest. RSA keys
   * need at least 2048 bits. With fewer than 3072 bits, the scheme has a warning.
   */
  algorithm: PublicKeyAlgorithm | undefined;
  /** The name of the header with the signature, in any case. @default "Service-Signature" */
  header?: string | undefined;
  /** A private key of one of the public keys, to sign in the sandbox and in tests. @default none */
  privateKey?: string | KeyObject | undefined;
}

const optionNames = {
  publicKey: 1,
  algorithm: 1,
  header: 1,
  privateKey: 1,
} satisfies NamesOf<PublicKeySignatureOptions>;

/**
 * Returns a scheme with a public-key signature over the raw body, in hexadecimal. The signature covers all
 * fields of the webhook.
 *
 * @throws ConfigurationError `key_invalid`, `option_missing` or `option_invalid`
 */
export function publicKeySignature(
  options: PublicKeySignatureOptions & { privateKey: string | KeyObject },
): SigningScheme;
export function publicKeySignature(options: PublicKeySignatureOptions): SignatureScheme;
export function publicKeySignature(options: PublicKeySignatureOptions): SignatureScheme {
  requireOptions("signature", options, "{ publicKey }");
  const problems = unknownOptions("signature.", options, optionNames);
  const header = readHeaderName(options.header, problems);
  const algorithm = readAlgorithm(options.algorithm, problems);
  if (algorithm === undefined) throw new ConfigurationError(problems);
  const { digest, length, verifyWith, signWith } = algorithmRules[algorithm];
  const warnings: string[] = [];
  const publicKeys = readPublicKeys(options.publicKey, algorithm, problems, warnings);
  const privateKey = readSigningKey(options.privateKey, algorithm, publicKeys, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const ways = publicKeys.flatMap((key) => verifyWith(key).map((way) => ({ ...way, key })));

  return Object.freeze<SignatureScheme>({
    header,
    covers: "body",
    warnings,
    verify({ rawBody, headers }) {
      const given = readSignature(headers, header, length);
      return ways.some((way) => verify(digest, rawBody, way, given));
    },
    ...(privateKey && {
      sign: (rawBody: Buffer) =>
        sign(digest, rawBody, { ...signWith(privateKey), key: privateKey }).toString("hex"),
    }),
  });
}

function readAlgorithm(algorithm: unknown, problems: ConfigurationProblem[]): PublicKeyAlgorithm | undefined {
  if (isPublicKeyAlgorithm(algorithm)) return algorithm;
  problems.push({
    code: algorithm === undefined ? "option_missing" : "option_invalid",
    option: "signature.algorithm",
    message: `must be one of ${Object.keys(algorithmRules).join(", ")}.`,
  });
  return undefined;
}

function readPublicKeys(
  given: unknown,
  algorithm: PublicKeyAlgorithm,
  problems: ConfigurationProblem[],
  warnings: string[],
): KeyObject[] {
  const listed = Array.isArray(given) && given.length > 0;
  const candidates: readonly unknown[] = listed ? given : [given];
  const keys: KeyObject[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const option = listed ? `signature.publicKey[${index}]` : "signature.publicKey";
    const key = readKey("public", candidate, algorithm, option);
    if ("code" in key) problems.push(key);
    else {
      keys.push(key);
      warnings.push(...warningAbout(key, option));
    }
  }
  return keys;
}

function readSigningKey(
  given: unknown,
  algorithm: PublicKeyAlgorithm,
  publicKeys: readonly KeyObject[],
  problems: ConfigurationProblem[],
): KeyObject | undefined {
  if (given === undefined) return undefined;
  const option = "signature.privateKey";
  const key = readKey("private", given, algorithm, option);
  if ("code" in key) {
    problems.push(key);
    return undefined;
  }
  const own = createPublicKey(key);
  if (publicKeys.length > 0 && !publicKeys.some((publicKey) => publicKey.equals(own)))
    problems.push({ code: "key_invalid", option, message: "belongs to none of the public keys." });
  return key;
}
