import { isDeepStrictEqual } from "node:util";
import { signedAccordingToEach } from "./other-readers.mjs";

/**
 * Whether a case may be accepted: its signature is the message's own, digit by digit, and what the signature covers is
 * what was signed. Written without the kit.
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

/** Whether it must be: nothing was changed but the case of the signature's digits. */
export function mustBeAccepted(made) {
  return made.body.equals(made.message.body) && mayBeAccepted(made);
}
