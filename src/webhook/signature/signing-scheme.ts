import { type SignatureScheme } from "./scheme.js";
import { type SignedField } from "../../model/signed-fields.js";

/** A scheme that can also sign: what the sandbox and tests make their webhooks with. */
export type SigningScheme<Covers extends SignedField = SignedField> = SignatureScheme<Covers> & {
  /** The value of the signature header for this body: lower-case hexadecimal. */
  sign(rawBody: Buffer): string;
};
