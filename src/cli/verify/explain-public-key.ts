import { constants, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from "node:crypto";
import { asGiven, type Cause, changed, type Form } from "./diagnoses.js";

type Check = (key: KeyObject, body: Buffer, signature: Buffer) => boolean;

const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING } = constants;

/** As `findExplanation`, for a signature that a public key checks. */
export function explainPublicKey(
  publicKey: string,
  bodies: readonly Form<Buffer>[],
  signatures: readonly Form<Buffer>[],
): readonly Cause[] | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey(publicKey);
  } catch {
    return undefined;
  }
  let best: readonly Cause[] | undefined;
  for (const check of checksFor(key.asymmetricKeyType ?? ""))
    for (const body of bodies)
      for (const signature of signatures) {
        const causes = [...check.causes, ...body.causes, ...signature.causes];
        if (causes.length >= (best?.length ?? 4)) continue;
        if (check.value(key, body.value, signature.value)) best = causes;
      }
  return best;
}

function checksFor(keyType: string): Form<Check>[] {
  if (keyType === "ed25519") return [asGiven(checkWith(null, {}))];
  const digests = ["sha256", "sha384", "sha512", "sha1"];
  const named = (digest: string, name: string, options: Omit<VerifyKeyObjectInput, "key">): Form<Check> =>
    changed(checkWith(digest, options), "algorithm_other", `the algorithm ${name} with ${digest}`);
  if (keyType === "ec")
    return [
      asGiven(checkWith("sha256", { dsaEncoding: "der" })),
      changed(
        checkWith("sha256", { dsaEncoding: "ieee-p1363" }),
        "signature_encoding",
        "two numbers one after the other (IEEE P1363) instead of DER",
      ),
      ...digests.slice(1).map((digest) => named(digest, "ECDSA", { dsaEncoding: "der" })),
    ];
  return digests.flatMap((digest) => [
    named(digest, "RSA (PKCS #1)", { padding: RSA_PKCS1_PADDING }),
    named(digest, "RSA-PSS", { padding: RSA_PKCS1_PSS_PADDING }),
  ]);
}

function checkWith(digest: string | null, options: Omit<VerifyKeyObjectInput, "key">): Check {
  return (key, body, signature) => {
    try {
      return verify(digest, body, { ...options, key }, signature);
    } catch {
      return false;
    }
  };
}
