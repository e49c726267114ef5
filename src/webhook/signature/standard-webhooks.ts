import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import { concealSecret } from "../../errors/conceal-secrets.js";
import { ConfigurationError, type ConfigurationProblem, WebhookRejectedError } from "../../errors/index.js";
import { isWholeNumber } from "../../shared/whole-number.js";
import { type NamesOf, requireOptions, unknownOptions } from "../../shared/unknown-names.js";
import { type SignatureScheme } from "./scheme.js";
import { malformed, readHeader } from "./signature-header.js";
import { readSecrets, type SecretOption } from "./secrets.js";

/** Options of {@link standardWebhooksSignature}. At least one of `secret` and `publicKey` is needed. */
export interface StandardWebhooksOptions {
  /**
   * The shared secret, or a list of them during a rotation. A string is base64, with or without the prefix
   * `whsec_`. Bytes are used unchanged.
   * @default none
   */
  secret?: SecretOption;
  /**
   * The Ed25519 public key in base64, with or without the prefix `whpk_`, or a list of them during a
   * rotation.
   * @default none
   */
  publicKey?: string | readonly (string | undefined)[] | undefined;
  /**
   * The maximum difference between the signed time and this machine's clock, in milliseconds.
   * @default 300_000
   */
  toleranceMs?: number | undefined;
}

/** Returns whether a signature, as bytes, is valid for the signed content. */
type Check = (content: Buffer, given: Buffer) => boolean;

const optionNames = { secret: 1, publicKey: 1, toleranceMs: 1 } satisfies NamesOf<StandardWebhooksOptions>;
const idHeader = "webhook-id";
const timeHeader = "webhook-timestamp";
const signatureHeader = "webhook-signature";
/** The maximum number of signatures in the header, which is more than any rotation needs. */
const maxSignatures = 20;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns the scheme of the specification Standard Webhooks 1.0, which covers all fields of the webhook. The
 * signature covers `webhook-id`, `webhook-timestamp` and the raw body. `v1` is HMAC-SHA256, and `v1a` is
 * Ed25519. One valid signature of several is enough.
 *
 * @throws ConfigurationError `option_missing`, `option_invalid`, `key_invalid`, `secret_missing`,
 * `secret_too_short`, `secret_placeholder` or `sandbox_credential_in_production`
 */
export function standardWebhooksSignature(options: StandardWebhooksOptions): SignatureScheme {
  requireOptions("signature", options, "{ secret }");
  const problems = unknownOptions("signature.", options, optionNames);
  const { secret, publicKey, toleranceMs = 300_000 } = options;
  if (secret === undefined && publicKey === undefined)
    problems.push({
      code: "option_missing",
      option: "signature.secret",
      message: "is not set; give the secret, or the publicKey, that the service issued.",
    });
  if (!isWholeNumber(toleranceMs, 1, 86_400_000))
    problems.push({
      code: "option_invalid",
      option: "signature.toleranceMs",
      message: "must be a whole number of milliseconds, at most a day.",
    });
  const decoded = secret === undefined ? undefined : decodeSecrets(secret, problems);
  const none = { secrets: [], warnings: [] };
  // If parts of a list were refused, the list must not be refused again as missing.
  const { secrets, warnings } =
    secret === undefined || problems.length > 0 ? none : readSecrets(decoded, problems);
  const keys = publicKey === undefined ? [] : readPublicKeys(publicKey, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);

  const checks: Record<string, Check[]> = {
    v1: secrets.map((each) => (content, given) => {
      const expected = createHmac("sha256", each).update(content).digest();
      return given.length === expected.length && timingSafeEqual(given, expected);
    }),
    v1a: keys.map((key) => (content, given) => verify(null, content, key, given)),
  };
  return Object.freeze<SignatureScheme>({
    header: signatureHeader,
    covers: "body",
    warnings,
    verify({ rawBody, headers }) {
      const [id, time] = [readHeader(headers, idHeader), readHeader(headers, timeHeader)];
      const signatures = readHeader(headers, signatureHeader).split(" ");
      if (signatures.length > maxSignatures) throw malformed(`there are ${signatures.length} of them`);
      requireRecent(time, toleranceMs);
      const content = Buffer.concat([Buffer.from(`${id}.${time}.`), rawBody]);
      return signatures.some((signature) => {
        const [version = "", text = ""] = signature.split(",", 2);
        if (!Object.hasOwn(checks, version) || !base64.test(text)) return false;
        const given = Buffer.from(text, "base64");
        return checks[version]!.some((check) => check(content, given));
      });
    },
  });
}

/** Refuses a webhook whose signed time is too long ago, as in an old copy, or too far in the future. */
function requireRecent(time: string, toleranceMs: number): void {
  if (!/^\d{1,12}$/.test(time)) throw malformed(`the header ${timeHeader} is no number of seconds`);
  const offMs = Date.now() - Number(time) * 1000;
  if (Math.abs(offMs) <= toleranceMs) return;
  const seconds = Math.round(Math.abs(offMs) / 1000);
  const which = offMs > 0 ? "ago" : "ahead of the clock of this machine";
  const message = `The webhook was signed ${seconds} seconds ${which}; ${toleranceMs / 1000} are allowed.`;
  throw new WebhookRejectedError("signature_mismatch", message);
}

/** Returns the secrets as bytes. Adds a problem for each secret that is not base64. */
function decodeSecrets(secret: SecretOption, problems: ConfigurationProblem[]): SecretOption {
  const decode = (one: unknown, option: string): Uint8Array | undefined => {
    if (typeof one !== "string") return one as Uint8Array | undefined;
    const text = one.replace(/^whsec_/, "");
    concealSecret(Buffer.from(text));
    if (base64.test(text)) return Buffer.from(text, "base64");
    problems.push({
      code: "option_invalid",
      option,
      message: "is not base64, as Standard Webhooks has secrets.",
    });
    return undefined;
  };
  if (!Array.isArray(secret)) return decode(secret, "signature.secret");
  return secret.map((one, index) => decode(one, `signature.secret[${index}]`));
}

function readPublicKeys(
  given: StandardWebhooksOptions["publicKey"],
  problems: ConfigurationProblem[],
): KeyObject[] {
  // An empty list is a missing key, as for secrets.
  const listed = Array.isArray(given) && given.length > 0;
  const candidates: readonly unknown[] = listed ? given : [given];
  return candidates.flatMap((candidate, index) => {
    const text = typeof candidate === "string" ? candidate.replace(/^whpk_/, "") : "";
    const bytes = base64.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
    if (bytes.length === 32)
      return [
        createPublicKey({
          key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
          format: "jwk",
        }),
      ];
    problems.push({
      code: "key_invalid",
      option: listed ? `signature.publicKey[${index}]` : "signature.publicKey",
      message: "is not an Ed25519 public key: 32 bytes in base64, often with the prefix whpk_.",
    });
    return [];
  });
}
