import { TillkitError } from "../../../errors/index.js";
import { makeScheme } from "../../sign/make-scheme.js";
import { type SignatureSettings } from "../../sign/signature-settings.js";

/** Signs as the service would; `undefined` where it cannot be done: no secret, one that the kit refuses, a public key. */
export function makeProbeSigner(settings: SignatureSettings): ((rawBody: Buffer) => string) | undefined {
  if (settings.scheme === "public-key") return undefined;
  try {
    const scheme = makeScheme(settings);
    return (rawBody) => scheme.sign!(rawBody);
  } catch (error) {
    if (error instanceof TillkitError) return undefined;
    throw error;
  }
}
