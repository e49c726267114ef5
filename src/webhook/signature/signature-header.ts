import { type ConfigurationProblem, WebhookRejectedError } from "../../errors/index.js";
import { type VerifyInput } from "./scheme.js";

/** The name of the signature's header in the interface document, section 4.4. */
export const defaultSignatureHeader = "Service-Signature";

/** The number of hexadecimal characters of a signature. */
export type SignatureLength = { exactly: number } | { atMost: number };

const hexadecimal = /^(?:[0-9a-f]{2})+$/i;
/** The form of a field name in RFC 9110, 5.1. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/**
 * Returns the signature as bytes. The text is checked before it is decoded, because `Buffer.from(text,
 * "hex")` silently drops characters that are not hexadecimal.
 *
 * @throws WebhookRejectedError `signature_missing` or `signature_malformed`
 */
export function readSignature(
  headers: VerifyInput["headers"],
  header: string,
  length: SignatureLength,
): Buffer {
  const text = readHeader(headers, header);
  // Node joins repeated headers with a comma, so a comma means that there are several signatures.
  if (text.includes(",")) throw malformed(`the header ${header} contains a list`);
  const fits = "exactly" in length ? text.length === length.exactly : text.length <= length.atMost;
  if (!fits) throw malformed(`it has ${text.length} characters`);
  if (!hexadecimal.test(text)) throw malformed("it is not hexadecimal");
  return Buffer.from(text, "hex");
}

/** Returns the configured header name, or the default. Adds a name that HTTP does not allow to `problems`. */
export function readHeaderName(header: string | undefined, problems: ConfigurationProblem[]): string {
  if (header === undefined) return defaultSignatureHeader;
  if (typeof header === "string" && headerName.test(header)) return header;
  problems.push({
    code: "option_invalid",
    option: "signature.header",
    message: `must be the name of an HTTP header, such as ${defaultSignatureHeader}.`,
  });
  return defaultSignatureHeader;
}

/**
 * Returns the value of a header that must arrive exactly once.
 *
 * @throws WebhookRejectedError `signature_missing` or `signature_malformed`
 */
export function readHeader(headers: VerifyInput["headers"], header: string): string {
  const name = header.toLowerCase();
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  const values = value === undefined || typeof value === "string" ? [value] : value;
  const [text] = values;
  if (values.length > 1) throw malformed(`the header ${header} arrived ${values.length} times`);
  if (text === undefined || text === "")
    throw new WebhookRejectedError("signature_missing", `The request has no header ${header}.`);
  return text;
}

/** Returns the error for a signature that cannot be read. */
export function malformed(because: string): WebhookRejectedError {
  return new WebhookRejectedError("signature_malformed", `The signature cannot be read: ${because}.`);
}
