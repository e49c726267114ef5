import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import {
  canonicalFields,
  decodeSignedBody,
  defaultSignedFields,
  isSignableText,
  type ListedField,
} from "./canonical-fields.js";
import { type HmacSignatureOptions, readHmacOptions } from "./hmac-signature.js";
import { checkCoverage, type SigningScheme } from "./scheme.js";

/** The fields of a list that the body contains, which are all except `merchantId`. */
export type CoveredBy<Fields extends readonly ListedField[]> = Exclude<Fields[number], "merchantId">;

/** Options of {@link fieldsSignature}. */
export interface FieldsSignatureOptions<
  Fields extends readonly ListedField[] = typeof defaultSignedFields,
> extends HmacSignatureOptions {
  /**
   * Your identifier at the service, which is part of the signed string. The scheme never reads it from the
   * body. Required if `fields` contains `merchantId`, as the default does.
   * @default none
   */
  merchantId?: string | undefined;
  /**
   * The signed fields, in the order of the signed string. The list must contain id, clientId, status,
   * total.value and total.currency.
   * @default ["id", "merchantId", "clientId", "total.value", "total.currency", "submittedAt", "status"]
   */
  fields?: Fields | undefined;
}

/**
 * Returns a scheme with an HMAC over fields of the body, joined by commas. The scheme covers only these
 * fields. Handlers get all other fields as `untrusted`, and no decision depends on these fields. No signing
 * time is signed, so an old webhook stays valid forever. An old webhook is harmless, because `completed` is
 * final.
 *
 * @throws ConfigurationError as `hmacSignature`, and `option_missing`, `signed_field_unknown` or
 * `signature_coverage_too_small`
 */
export function fieldsSignature<const Fields extends readonly ListedField[] = typeof defaultSignedFields>(
  options: FieldsSignatureOptions<Fields>,
): SigningScheme<CoveredBy<Fields>> {
  const problems: ConfigurationProblem[] = [];
  const { header, warnings, readGiven, matches, sign } = readHmacOptions(options, problems, {
    merchantId: 1,
    fields: 1,
  });
  const fields = readFieldList(options.fields, problems);
  const { merchantId } = options;
  checkMerchantId(merchantId, fields.includes("merchantId"), problems);
  if (problems.length > 0) throw new ConfigurationError(problems);

  const canonical = (payload: Readonly<Record<string, unknown>>) =>
    canonicalFields(payload, { fields, merchantId });
  return Object.freeze<SigningScheme<CoveredBy<Fields>>>({
    header,
    covers: Object.freeze(bodyFields<Fields>(fields)),
    warnings,
    verify({ rawBody, headers, payload }) {
      const given = readGiven(headers);
      return matches(canonical(payload ?? decodeSignedBody(rawBody)), given);
    },
    sign: (rawBody) => sign(canonical(decodeSignedBody(rawBody))),
  });
}

function bodyFields<Fields extends readonly ListedField[]>(
  fields: readonly ListedField[],
): CoveredBy<Fields>[] {
  return fields.filter((field): field is CoveredBy<Fields> => field !== "merchantId");
}

function readFieldList(
  given: readonly ListedField[] | undefined,
  problems: ConfigurationProblem[],
): readonly ListedField[] {
  const option = "signature.fields";
  if (given === undefined) return defaultSignedFields;
  if (!Array.isArray(given)) {
    problems.push({ code: "option_invalid", option, message: "must be a list of field names." });
    return defaultSignedFields;
  }
  const fields: ListedField[] = [...given];
  const names: readonly string[] = fields;
  if (names.includes("captured"))
    problems.push({
      code: "signed_field_unknown",
      option,
      message: "cannot contain captured: it is not a string, and its text form is not documented.",
    });
  if (fields.indexOf("merchantId") !== fields.lastIndexOf("merchantId"))
    problems.push({ code: "signed_field_unknown", option, message: "names merchantId twice." });
  problems.push(...checkCoverage({ covers: bodyFields(fields) }, option));
  return fields;
}

function checkMerchantId(merchantId: unknown, listed: boolean, problems: ConfigurationProblem[]): void {
  const option = "signature.merchantId";
  if (merchantId === undefined || merchantId === "") {
    if (listed)
      problems.push({
        code: "option_missing",
        option,
        message: "is missing; set it to your identifier at the service, which is part of the signed string.",
      });
  } else if (!isSignableText(merchantId) || merchantId !== merchantId.trim())
    problems.push({
      code: "option_invalid",
      option,
      message: "must be text of 1 to 256 characters without comma, control character or space around it.",
    });
}
