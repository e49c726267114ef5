import { isDeepStrictEqual } from "node:util";
import { signedAccordingToEach } from "./other-readers.mjs";

/**
 * Returns whether a case may be accepted: it has the signature of its message, and the signed content is unchanged. Does not
 * use the kit.
 */
export function mayBeAccepted({ target, message, body, signature }) {
  const given = Array.isArray(signature) && signature.length === 1 ? signature[0] : signature;
  if (typeof given !== "string" || given.toLowerCase() !== message.signature) return false;
  if (body.equals(message.body)) return true;
  if (target.covers === "body") return false;
  try {
    const [signed] = signedAccordingToEach(message.body);
    return signedAccordingToEach(body).every((seen) => isDeepStrictEqual(seen, signed));
  } catch {
    return false;
  }
}

/** Returns whether a case must be accepted: only the case of the signature's digits may have changed. */
export function mustBeAccepted(made) {
  return made.body.equals(made.message.body) && mayBeAccepted(made);
}
