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
export type PublicKeyAlgorithm = "ed25519" | "ecdsa-sha256" | "rsa-sha256" | "rsa-pss-sha256";

/** The parameters of node:crypto for an algorithm. */
export interface AlgorithmRules {
  digest: string | null;
  keyTypes: readonly string[];
  length: SignatureLength;
  verifyWith: Omit<VerifyKeyObjectInput, "key">;
  signWith: Omit<VerifyKeyObjectInput, "key">;
}

const anyLength = { atMost: 2048 };
const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_AUTO, RSA_PSS_SALTLEN_DIGEST } = constants;
const der = { dsaEncoding: "der" } as const;
const pkcs1 = { padding: RSA_PKCS1_PADDING };
const pss = (saltLength: number) => ({ padding: RSA_PKCS1_PSS_PADDING, saltLength });

/** The algorithms by name. */
export const algorithmRules: Readonly<Record<PublicKeyAlgorithm, AlgorithmRules>> = {
  ed25519: { digest: null, keyTypes: ["ed25519"], length: { exactly: 128 }, verifyWith: {}, signWith: {} },
  "ecdsa-sha256": { digest: "sha256", keyTypes: ["ec"], length: anyLength, verifyWith: der, signWith: der },
  "rsa-sha256": {
    digest: "sha256",
    keyTypes: ["rsa"],
    length: anyLength,
    verifyWith: pkcs1,
    signWith: pkcs1,
  },
  "rsa-pss-sha256": {
    digest: "sha256",
    keyTypes: ["rsa", "rsa-pss"],
    length: anyLength,
    // Signers use different salt lengths; security does not depend on them.
    verifyWith: pss(RSA_PSS_SALTLEN_AUTO),
    signWith: pss(RSA_PSS_SALTLEN_DIGEST),
  },
};

/** Returns whether the kit has an algorithm of this name. */
export function isPublicKeyAlgorithm(name: unknown): name is PublicKeyAlgorithm {
  return typeof name === "string" && Object.hasOwn(algorithmRules, name);
}

const curves = ["prime256v1", "secp384r1", "secp521r1", "secp256k1"];
const minModulusBits = 2048;
const publicPem = /^\s*-----BEGIN (?:RSA )?PUBLIC KEY-----/;

/** Returns the key of this kind for the algorithm, or what is wrong with the given value. */
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
    key = given instanceof KeyObject ? given : typeof given === "string" ? fromPem(given, kind) : undefined;
  } catch {
    // Not kept as a cause: the parser's message may quote the key.
  }
  if (key === undefined)
    return refuse(`is not a ${kind} key in PEM text (its line breaks must be real ones) or a KeyObject.`);
  if (key.type !== kind) return refuse(`is a ${key.type} key; give the ${kind} key.`);
  const misfit = findMisfit(key, algorithm);
  return misfit === undefined ? key : refuse(misfit);
}

function fromPem(text: string, kind: "public" | "private"): KeyObject | undefined {
  if (kind === "private") return createPrivateKey(text);
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
