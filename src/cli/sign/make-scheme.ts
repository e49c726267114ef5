import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { ConfigurationError, TillkitError } from "../../errors/index.js";
import {
  fieldsSignature,
  type HmacAlgorithm,
  hmacSignature,
  type PublicKeyAlgorithm,
  publicKeySignature,
  type SignatureScheme,
  type SigningScheme,
} from "../../webhook/signature/index.js";
import { type SignatureSettings } from "./signature-settings.js";

/**
 * Creates the kit's own scheme, as an application with these settings has it.
 *
 * @throws ConfigurationError for everything that the kit refuses to start with
 */
export function makeScheme(settings: SignatureSettings): SignatureScheme {
  if (settings.scheme !== "public-key") return makeHmacScheme(settings);
  const { publicKey = "", header } = settings;
  const algorithm = algorithmFor(settings, () => createPublicKey(publicKey));
  return publicKeySignature({ publicKey, algorithm, header });
}

/**
 * Creates a scheme that can also sign.
 *
 * @param privateKey PEM text, for public-key
 * @throws ConfigurationError as {@link makeScheme}, and if the private key is missing
 */
export function makeSigningScheme(
  settings: SignatureSettings,
  privateKey: string | undefined,
): SigningScheme {
  if (settings.scheme !== "public-key") return makeHmacScheme(settings);
  if (privateKey === undefined) {
    const message = "is missing; give --private-key, because a public key cannot sign.";
    throw new ConfigurationError([{ code: "key_invalid", option: "signature.privateKey", message }]);
  }
  const algorithm = algorithmFor(settings, () => createPrivateKey(privateKey));
  const { header } = settings;
  return publicKeySignature({ publicKey: publicHalf(privateKey), privateKey, algorithm, header });
}

/** Returns the signature that the kit expects; `undefined` if it cannot sign, or refuses the settings or the body. */
export function expectedSignature(settings: SignatureSettings, rawBody: Buffer): string | undefined {
  try {
    return makeScheme(settings).sign?.(rawBody);
  } catch (error) {
    if (error instanceof TillkitError) return undefined;
    throw error;
  }
}

function makeHmacScheme(settings: SignatureSettings): SigningScheme {
  const { scheme, header, fields, merchantId } = settings;
  const [first, ...others] = settings.secrets.map(({ text }) => text);
  const secret = others.length > 0 ? [first, ...others] : first;
  const algorithm = settings.algorithm as HmacAlgorithm;
  return scheme === "fields"
    ? fieldsSignature({ secret, algorithm, header, fields, merchantId })
    : hmacSignature({ secret, algorithm, header });
}

const usualAlgorithms: Readonly<Record<string, PublicKeyAlgorithm>> = {
  ed25519: "ed25519",
  ec: "ecdsa-sha256",
  rsa: "rsa-sha256",
  "rsa-pss": "rsa-pss-sha256",
};

/** Returns the algorithm of the settings, or the usual one for the type of the key. */
function algorithmFor({ algorithm }: SignatureSettings, read: () => KeyObject): PublicKeyAlgorithm {
  if (algorithm !== undefined) return algorithm as PublicKeyAlgorithm;
  try {
    return usualAlgorithms[read().asymmetricKeyType ?? ""] ?? "ed25519";
  } catch {
    // The scheme reports what is wrong with the key. The parser's message may quote the key.
    return "ed25519";
  }
}

/** Returns the public key as PEM; `undefined` if the private key cannot be read, which the scheme reports. */
function publicHalf(privateKey: string): string | undefined {
  try {
    return createPublicKey(createPrivateKey(privateKey)).export({ type: "spki", format: "pem" }).toString();
  } catch {
    return undefined;
  }
}
