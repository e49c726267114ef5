/**
 * Why a signature may not match, as `tillkit verify` finds it by trial, with what to do about each. Codes are added,
 * never renamed; `docs/cli.md` has a row for each.
 */
export const diagnoses = {
  secret_padded:
    "Paste the secret again without what stands around it; a file or a variable often adds a line break.",
  secret_quoted: "Take the quotation marks away: the tool that reads the variable does not.",
  secret_encoded:
    "Give the scheme the bytes themselves: Buffer.from(secret, 'hex') or 'base64', as the message says.",
  secret_prefixed: "Ask the service which part of the text is the key, and give that part only.",
  secret_other:
    "Use the secret that belongs to this webhook address and this environment; during a rotation, give both.",
  body_reserialised:
    "Verify the raw bytes, not what JSON.stringify makes of them: mount the payment router before the JSON parser, or " +
    "use captureRawBody. A body that was copied from a log or an editor is not the body that arrived.",
  body_line_ending:
    "Save the body byte for byte: an editor, echo or a conversion of line breaks changed its end.",
  body_byte_order_mark: "Save the body without a byte order mark, as it arrives.",
  body_encoding: "Save the body in UTF-8, as it arrives.",
  body_part: "Ask the service what it signs; a scheme of your own can verify it, see docs/signatures.md.",
  body_other: "Compare the signature with the body that it came with.",
  scheme_other: "Configure the scheme that the service uses: hmacSignature or fieldsSignature.",
  fields_other: "Give fieldsSignature the list, in the order in which the service signs it.",
  merchant_id_other:
    "Set merchantId to what the service signs, or leave it out of the list if it signs none.",
  algorithm_other: "Set the algorithm that the service uses; the kit offers sha256, sha384 and sha512.",
  hash_not_hmac:
    "Ask the service for an HMAC: a plain hash of secret and body can be forged or extended. A scheme of your own can " +
    "verify it meanwhile.",
  signature_prefixed: "Take what stands before the signature away, in a scheme of your own.",
  signature_base64:
    "Verify it in a scheme of your own: the kit's schemes read hexadecimal. See docs/signatures.md.",
  signature_padded: "Compare the signature without the characters around it.",
  signature_repeated:
    "Find out who adds the header a second time; the kit refuses what is not one signature.",
  signature_truncated: "Copy the whole signature; if the service sends no more, it cannot be trusted.",
  signature_encoding: "Ask the service for the DER form, or verify the other one in a scheme of your own.",
  signature_header_other: "Set the header's name in the scheme, as the service sends it.",
  signature_upper_case: "Nothing here; a comparison of texts written by hand would fail.",
  signature_unexplained:
    "Check that secret, body and signature belong to one another: the secret of this webhook address, the bytes as " +
    "they arrived, the header of the same request.",
} as const;

export type DiagnosisCode = keyof typeof diagnoses;

/** One way in which something differs from what was expected. */
export interface Cause {
  code: DiagnosisCode;
  /** Completes "The signature fits …". */
  detail: string;
}

/** A value to try, with what it would mean if it fits; as it was given where there is no cause. */
export interface Form<Value> {
  value: Value;
  causes: readonly Cause[];
}

export function asGiven<Value>(value: Value): Form<Value> {
  return { value, causes: [] };
}

export function changed<Value>(value: Value, code: DiagnosisCode, detail: string): Form<Value> {
  return { value, causes: [{ code, detail }] };
}
