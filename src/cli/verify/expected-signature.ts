import { TillkitError } from "../../errors/index.js";
import { makeScheme } from "../sign/make-scheme.js";
import { type SignatureSettings } from "../sign/signature-settings.js";

/** What the kit would have expected; `undefined` where it cannot sign, or signs nothing of this kind. */
export function expectedSignature(settings: SignatureSettings, rawBody: Buffer): string | undefined {
  try {
    return makeScheme(settings).sign?.(rawBody);
  } catch (error) {
    if (error instanceof TillkitError) return undefined;
    throw error;
  }
}
