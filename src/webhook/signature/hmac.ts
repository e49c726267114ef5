import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { type ConfigurationProblem } from "../../errors/index.js";

/** Digest of an HMAC scheme. */
export type HmacAlgorithm = "sha256" | "sha384" | "sha512";

const digestBytes = { sha256: 32, sha384: 48, sha512: 64 } as const satisfies Record<HmacAlgorithm, number>;

/** How many hexadecimal characters a signature of this algorithm has. */
export function hexLength(algorithm: HmacAlgorithm): number {
  return digestBytes[algorithm] * 2;
}

/** The configured algorithm, or sha256; one that the kit does not offer is added to `problems`. */
export function readHmacAlgorithm(
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

/** Lower-case hexadecimal HMAC of the message. */
export function hmacHex(algorithm: HmacAlgorithm, secret: KeyObject, message: string | Buffer): string {
  return createHmac(algorithm, secret).update(message).digest("hex");
}

/**
 * Whether one of the secrets made the signature. All of them are tried, so that the time taken does not tell which
 * one it was. `given` has the digest's length: {@link readSignature} saw to that.
 */
export function hmacMatches(
  algorithm: HmacAlgorithm,
  secrets: readonly KeyObject[],
  message: string | Buffer,
  given: Buffer,
): boolean {
  let matches = 0;
  for (const secret of secrets) {
    // By way of text: a digest that is asked for as bytes is memory of its own, and costs twice as much.
    const expected = Buffer.from(hmacHex(algorithm, secret, message), "hex");
    matches |= Number(timingSafeEqual(expected, given));
  }
  return matches === 1;
}
