import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { ConfigurationError } from "../../errors/index.js";
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
 * The kit's own scheme, as the application has it.
 *
 * @throws ConfigurationError whatever the kit refuses to start with
 */
export function makeScheme(settings: SignatureSettings): SignatureScheme {
  if (settings.scheme !== "public-key") return makeHmacScheme(settings);
  const { publicKey = "", header } = settings;
  const algorithm = algorithmFor(settings, () => createPublicKey(publicKey));
  return publicKeySignature({ publicKey, algorithm, header });
}

/** The same, where it must also sign; `privateKey` is PEM text. */
export function makeSigningScheme(
  settings: SignatureSettings,
  privateKey: string | undefined,
): SigningScheme {
  if (settings.scheme !== "public-key") return makeHmacScheme(settings);
  if (privateKey === undefined) {
    const message = "is missing; give --private-key, for a public key signs nothing.";
    throw new ConfigurationError([{ code: "key_invalid", option: "signature.privateKey", message }]);
  }
  const algorithm = algorithmFor(settings, () => createPrivateKey(privateKey));
  const { header } = settings;
  return publicKeySignature({ publicKey: publicHalf(privateKey), privateKey, algorithm, header });
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

/** The algorithm that was asked for, or the usual one of the key. */
function algorithmFor({ algorithm }: SignatureSettings, read: () => KeyObject): PublicKeyAlgorithm {
  if (algorithm !== undefined) return algorithm as PublicKeyAlgorithm;
  try {
    return usualAlgorithms[read().asymmetricKeyType ?? ""] ?? "ed25519";
  } catch {
    // The scheme says what is wrong with the key; the parser's own message may quote it.
    return "ed25519";
  }
}

/** What cannot be read is told by the scheme, about the private key. */
function publicHalf(privateKey: string): string | undefined {
  try {
    return createPublicKey(createPrivateKey(privateKey)).export({ type: "spki", format: "pem" }).toString();
  } catch {
    return undefined;
  }
}
