import { type ConfigurationProblem } from "../../errors/index.js";
import {
  indispensableFields,
  isSignedField,
  type SignedField,
  signedFields,
} from "../../model/signed-fields.js";

/** The input of a scheme that verifies one webhook. */
export interface VerifyInput {
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** Request headers with lower-case names. A repeated header is an array, so that a scheme can refuse it. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The method, for schemes that sign it. Absent if `receiveWebhook` did not get it. */
  method?: string | undefined;
  /** The path with the mount path, and the query: `/payments/webhook?v=1`. Absent if it was not given. */
  url?: string | undefined;
  /**
   * The strictly decoded body: valid UTF-8, no duplicate keys, limited depth. Present only for schemes that
   * cover fields and not the whole body. A body that cannot be decoded is refused before the scheme sees it.
   */
  payload?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Defines the signed content, the signature's form, and the fields that the signature covers. The kit trusts
 * no field that `covers` does not contain.
 */
export interface SignatureScheme<Covers extends SignedField = SignedField> {
  /**
   * The name of the header with the signature, in any case. The interface document shows `Service-Signature`.
   */
  readonly header: string;
  /** `"body"` means that every byte is signed. A list means that only these fields are signed. */
  readonly covers: "body" | readonly Covers[];
  /**
   * Returns whether the signature is valid. If not, return or resolve to `false`, or throw. The response is
   * then 401, or 400 if you throw `signed_fields_unreadable`, or 429 over the limit of failures. Compare in
   * constant time. To give the log a reason, throw a {@link WebhookRejectedError}.
   */
  verify(input: VerifyInput): boolean | Promise<boolean>;
  /** Returns the value of the header for this body. The sandbox and tests use this method. */
  sign?(rawBody: Buffer): string;
  /** Findings that do not stop the kit, such as a short secret. The kit logs them at the start. */
  readonly warnings?: readonly string[];
}

/** A scheme that can also sign. The sandbox and tests sign their webhooks with such a scheme. */
export type SigningScheme<Covers extends SignedField = SignedField> = SignatureScheme<Covers> & {
  /** Returns the value of the signature header for this body, in lower-case hexadecimal. */
  sign(rawBody: Buffer): string;
};

/**
 * Returns the problems of a scheme's coverage. The scheme may be the merchant's own. Without one of the
 * {@link indispensableFields}, an attacker could complete a payment with an amount that is not signed.
 */
export function checkCoverage(
  { covers }: Pick<SignatureScheme, "covers">,
  option = "signature.covers",
): ConfigurationProblem[] {
  if (covers === "body") return [];
  if (!Array.isArray(covers))
    return [{ code: "option_invalid", option, message: 'must be "body" or a list of field names.' }];
  const names: readonly unknown[] = covers;
  const problems: ConfigurationProblem[] = [];
  if (!names.every(isSignedField))
    problems.push(unknownField(option, `knows only these fields: ${signedFields.join(", ")}.`));
  if (new Set(names).size < names.length) problems.push(unknownField(option, "names a field twice."));
  const missing = indispensableFields.filter((field) => !names.includes(field));
  if (missing.length > 0)
    problems.push({
      code: "signature_coverage_too_small",
      option,
      message: `does not cover ${missing.join(", ")}; without them an attacker could choose what is paid.`,
    });
  return problems;
}

function unknownField(option: string, message: string): ConfigurationProblem {
  return { code: "signed_field_unknown", option, message };
}
