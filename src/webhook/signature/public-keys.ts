import {
  constants,
  createPrivateKey,
  createPublicKey,
  KeyObject,
  type VerifyKeyObjectInput,
} from "node:crypto";
import { type ConfigurationProblem } from "../../errors/index.js";
import { type SignatureLength } from "./signature-header.js";

/** A signature algorithm with a public key. */
export type PublicKeyAlgorithm =
  "ed25519" | "ecdsa-sha256" | "ecdsa-sha384" | "ecdsa-sha512" | "rsa-sha256" | "rsa-pss-sha256";

/** The parameters of an algorithm for node:crypto. */
export interface AlgorithmRules {
  digest: string | null;
  keyTypes: readonly string[];
  length: SignatureLength;
  /** The ways to verify with this key. A signature is valid if it is valid in one of these ways. */
  verifyWith: (key: KeyObject) => readonly Omit<VerifyKeyObjectInput, "key">[];
  signWith: (key: KeyObject) => Omit<VerifyKeyObjectInput, "key">;
}

const anyLength = { atMost: 2048 };
const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_AUTO } = constants;
const digestBytes = 32;

/**
 * Returns the salt lengths with which a signature may have been made. Security does not depend on the length.
 * OpenSSL detects the length, except for a key with parameters. For such a key, the length is the key's
 * minimum, the digest's length, or the maximum.
 */
function saltLengths({ asymmetricKeyDetails: { saltLength, modulusLength = 0 } = {} }: KeyObject): number[] {
  if (saltLength === undefined) return [RSA_PSS_SALTLEN_AUTO];
  const longest = Math.ceil((modulusLength - 1) / 8) - digestBytes - 2;
  return [saltLength, digestBytes, longest].filter((length) => length >= saltLength);
}

/** Returns the rules of an algorithm that has the same parameters for every key. */
function rules(
  digest: string | null,
  type: string,
  length: SignatureLength,
  options: Omit<VerifyKeyObjectInput, "key">,
): AlgorithmRules {
  return { digest, keyTypes: [type], length, verifyWith: () => [options], signWith: () => options };
}

const ecdsa = (digest: string) => rules(digest, "ec", anyLength, { dsaEncoding: "der" });

/** The algorithms by name. */
export const algorithmRules: Readonly<Record<PublicKeyAlgorithm, AlgorithmRules>> = {
  ed25519: rules(null, "ed25519", { exactly: 128 }, {}),
  "ecdsa-sha256": ecdsa("sha256"),
  "ecdsa-sha384": ecdsa("sha384"),
  "ecdsa-sha512": ecdsa("sha512"),
  "rsa-sha256": rules("sha256", "rsa", anyLength, { padding: RSA_PKCS1_PADDING }),
  "rsa-pss-sha256": {
    digest: "sha256",
    keyTypes: ["rsa", "rsa-pss"],
    length: anyLength,
    verifyWith: (key) =>
      saltLengths(key).map((saltLength) => ({ padding: RSA_PKCS1_PSS_PADDING, saltLength })),
    signWith: ({ asymmetricKeyDetails: { saltLength = 0 } = {} }) => ({
      padding: RSA_PKCS1_PSS_PADDING,
      saltLength: Math.max(saltLength, digestBytes),
    }),
  },
};

/** Returns whether the kit has an algorithm of this name. */
export function isPublicKeyAlgorithm(name: unknown): name is PublicKeyAlgorithm {
  return typeof name === "string" && Object.hasOwn(algorithmRules, name);
}

const curves = ["prime256v1", "secp384r1", "secp521r1", "secp256k1"];
const minModulusBits = 2048;
/** The recommended size of an RSA key, for 128 bits of security. A smaller key gets a warning. */
const recommendedModulusBits = 3072;
const publicPem = /^\s*-----BEGIN (?:RSA )?PUBLIC KEY-----/;

/** Returns the key of this kind for the algorithm, or the problem of the given value. */
export function readKey(
  kind: "public" | "private",
  given: unknown,
  algorithm: PublicKeyAlgorithm,
  option: string,
): KeyObject | ConfigurationProblem {
  const refuse = (message: string): ConfigurationProblem => ({ code: "key_invalid", option, message });
  if (given === undefined || given === "") return refuse(`is missing; give a ${kind} key as PEM text.`);
  let key: KeyObject | undefined;
  try {
    key = given instanceof KeyObject ? given : typeof given === "string" ? fromPem(given) : undefined;
  } catch {
    // The error is not kept as a cause, because the parser's message may quote the key.
  }
  if (key === undefined)
    return refuse(`is not a ${kind} key in PEM text (its line breaks must be real ones) or a KeyObject.`);
  if (key.type !== kind) return refuse(`is a ${key.type} key; give the ${kind} key.`);
  const misfit = findMisfit(key, algorithm);
  return misfit === undefined ? key : refuse(misfit);
}

/** Returns a warning for an RSA key that is shorter than recommended. */
export function warningAbout({ asymmetricKeyDetails: details }: KeyObject, option: string): string[] {
  const bits = details?.modulusLength ?? recommendedModulusBits;
  if (bits >= recommendedModulusBits) return [];
  return [`${option} has ${bits} bits; ask the service for an RSA key of ${recommendedModulusBits} bits.`];
}

function fromPem(text: string): KeyObject | undefined {
  // createPublicKey would silently derive a public key from a private one, which must not be configured.
  if (/PRIVATE KEY-----/.test(text)) return createPrivateKey(text);
  return publicPem.test(text) ? createPublicKey(text) : undefined;
}

function findMisfit(key: KeyObject, algorithm: PublicKeyAlgorithm): string | undefined {
  const type = key.asymmetricKeyType;
  const details = key.asymmetricKeyDetails ?? {};
  if (type === undefined || !algorithmRules[algorithm].keyTypes.includes(type))
    return `is a key of type ${type ?? "unknown"}, which does not fit the algorithm ${algorithm}.`;
  if (type === "ec" && !curves.includes(details.namedCurve ?? ""))
    return `is on the curve ${details.namedCurve ?? "unknown"}; use one of ${curves.join(", ")}.`;
  if (type.startsWith("rsa") && (details.modulusLength ?? 0) < minModulusBits)
    return `has ${details.modulusLength ?? 0} bits; RSA keys need at least ${minModulusBits}.`;
  if ((details.hashAlgorithm ?? "sha256") !== "sha256")
    return `is bound to the digest ${details.hashAlgorithm}; use one for sha256.`;
  return undefined;
}
