import { createHash, createHmac } from "node:crypto";
import { asGiven, type Cause, changed, type Form } from "./diagnoses.js";

/** Makes a signature of a message. */
export type Digest = (secret: Buffer, message: Buffer) => Buffer;

/** Everything that may be combined. */
export interface Trials {
  secrets: readonly Form<Buffer>[];
  messages: readonly Form<Buffer>[];
  digests: readonly Form<Digest>[];
  signatures: readonly Form<Buffer>[];
}

/** More differences at once than these are no explanation any more, and cost too many trials. */
const mostCauses = 3;
/** A signature that was cut off: what is left must be too long to fit by chance. */
const leastBytes = 8;

/**
 * Tries all combinations, and answers with the causes of one that fits with the fewest; an empty list where all is as it
 * was given, `undefined` where nothing fits. That a wrong one fits by chance is out of the question: it would take a
 * collision.
 */
export function findExplanation(trials: Trials): readonly Cause[] | undefined {
  let best: readonly Cause[] | undefined;
  for (const secret of trials.secrets)
    for (const message of trials.messages)
      for (const digest of trials.digests) {
        const causes = [...secret.causes, ...message.causes, ...digest.causes];
        if (causes.length > mostCauses || causes.length >= (best?.length ?? Infinity)) continue;
        const made = digest.value(secret.value, message.value);
        for (const signature of trials.signatures) {
          const all = [...causes, ...signature.causes, ...cutOff(made, signature.value)];
          if (startsWith(made, signature.value) && all.length < (best?.length ?? Infinity)) best = all;
        }
      }
  return best;
}

function startsWith(made: Buffer, given: Buffer): boolean {
  return (
    given.length >= leastBytes && given.length <= made.length && made.subarray(0, given.length).equals(given)
  );
}

function cutOff(made: Buffer, given: Buffer): Cause[] {
  if (given.length >= made.length) return [];
  const detail = `the first ${given.length} of ${made.length} bytes`;
  return [{ code: "signature_truncated", detail }];
}

/** The configured algorithm first, then the others that services use, and hashes that are no HMAC. */
export function digestForms(algorithm: string): Form<Digest>[] {
  const hmac =
    (name: string): Digest =>
    (secret, message) =>
      createHmac(name, secret).update(message).digest();
  const others = ["sha256", "sha384", "sha512", "sha1", "md5"].filter((name) => name !== algorithm);
  const plain = (name: string, order: (secret: Buffer, message: Buffer) => Buffer[]): Digest => {
    return (secret, message) =>
      createHash(name)
        .update(Buffer.concat(order(secret, message)))
        .digest();
  };
  return [
    asGiven(hmac(algorithm)),
    ...others.map((name) => changed(hmac(name), "algorithm_other", `the algorithm ${name}`)),
    ...["sha256", "sha512", "sha1", "md5"].flatMap((name) => [
      changed(
        plain(name, (secret, message) => [secret, message]),
        "hash_not_hmac",
        `a plain ${name} of secret and body`,
      ),
      changed(
        plain(name, (secret, message) => [message, secret]),
        "hash_not_hmac",
        `a plain ${name} of body and secret`,
      ),
    ]),
  ];
}
