import { WebhookRejectedError } from "../../errors/index.js";
import { type SignatureScheme } from "./scheme.js";
import { decodeStrict } from "../message/decode-strict.js";

/**
 * For a scheme that signs fields, the strictly decoded body that they are read from; decoded once, here. Nothing
 * for a scheme that signs the body. Throws `signed_fields_unreadable` where the fields cannot be read.
 */
export function decodeSignedFields(
  scheme: SignatureScheme,
  rawBody: Buffer,
): Record<string, unknown> | undefined {
  if (scheme.covers === "body") return undefined;
  const decoded = decodeStrict(rawBody);
  if (decoded.ok) return decoded.payload;
  throw new WebhookRejectedError(
    "signed_fields_unreadable",
    `The signed fields cannot be read from the body: ${decoded.reason}.`,
  );
}
