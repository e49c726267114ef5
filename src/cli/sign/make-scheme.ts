import { createPublicKey, type KeyObject } from "node:crypto";
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
import { type Arguments, type InputContext } from "../terminal/command.js";
import { readText } from "../terminal/read-file.js";
import {
  readSettingsWithSecret,
  refuseOptions,
  type SignatureSettings,
  signatureOptions,
} from "./signature-settings.js";

/** The options of commands that sign. */
export const signingOptions = {
  ...signatureOptions,
  "--private-key <file>":
    "With --scheme public-key: a private key as PEM, for tests only. The service does not give away its own key.",
};

/**
 * Creates the scheme that an application with these settings has. A private key in PEM replaces the public
 * key. Throws a `ConfigurationError` if the kit does not accept the settings.
 */
export function makeScheme(settings: SignatureSettings, privateKey?: string): SignatureScheme {
  if (settings.scheme !== "public-key") return makeHmacScheme(settings);
  const { publicKey = "", header } = settings;
  // `createPublicKey` also accepts a private key, and returns its public key.
  const key = readPublicKey(privateKey ?? publicKey);
  const algorithm = (settings.algorithm ?? usualAlgorithm(key)) as PublicKeyAlgorithm;
  const given = privateKey === undefined ? publicKey : key;
  return publicKeySignature({ publicKey: given, privateKey, algorithm, header });
}

/**
 * Reads the settings, and creates a scheme that can sign. Throws `key_invalid` for the scheme `public-key`
 * without `--private-key`.
 */
export async function readSigningScheme(args: Arguments, context: InputContext) {
  const settings = await readSettingsWithSecret(args, context);
  refuseOptions(args, settings, "fields", ["fields", "merchant-id"]);
  refuseOptions(args, settings, "public-key", ["private-key"]);
  const keyFile = args.get("private-key");
  const privateKey = keyFile === undefined ? undefined : await readText(keyFile, context);
  if (settings.scheme !== "public-key" || privateKey !== undefined)
    return { settings, scheme: makeScheme(settings, privateKey) as SigningScheme };
  const message = "is missing; give --private-key, because a public key cannot sign.";
  throw new ConfigurationError([{ code: "key_invalid", option: "signature.privateKey", message }]);
}

/** Returns the expected signature; `undefined` if the kit cannot sign or refuses the settings or the body. */
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

/**
 * Returns the public key of a PEM text; `undefined` for an unreadable text, because `publicKeySignature` then
 * throws an error with the reason.
 */
export function readPublicKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** Returns the algorithm that is usual for a key. */
export function usualAlgorithm(key: KeyObject | undefined): PublicKeyAlgorithm {
  return usualAlgorithms[key?.asymmetricKeyType ?? ""] ?? "ed25519";
}

const usualAlgorithms: Readonly<Record<string, PublicKeyAlgorithm>> = {
  ed25519: "ed25519",
  ec: "ecdsa-sha256",
  rsa: "rsa-sha256",
  "rsa-pss": "rsa-pss-sha256",
};
