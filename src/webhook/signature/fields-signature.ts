import { createSecretKey } from "node:crypto";
import { ConfigurationError, type ConfigurationProblem, WebhookRejectedError } from "../../errors/index.js";
import { decodeStrict } from "../message/decode-strict.js";
import {
  canonicalFields,
  defaultSignedFields,
  isSignableText,
  type ListedField,
} from "./canonical-fields.js";
import { checkCoverage } from "./coverage.js";
import { hexLength, type HmacAlgorithm, hmacHex, hmacMatches, readHmacAlgorithm } from "./hmac.js";
import { readSecrets, type SecretOption } from "./secrets.js";
import { readHeaderName, readSignature } from "./signature-header.js";
import { type SigningScheme } from "./signing-scheme.js";

/** The fields of a list that the body carries: all but `merchantId`. */
export type CoveredBy<Fields extends readonly ListedField[]> = Exclude<Fields[number], "merchantId">;

/** Options of {@link fieldsSignature}. */
export interface FieldsSignatureOptions<Fields extends readonly ListedField[] = typeof defaultSignedFields> {
  /** As in `hmacSignature`: one secret, or a list of them during a rotation. */
  secret: SecretOption;
  /**
   * Your identifier at the service. It is part of the signed string and taken from here only, never from the body.
   * Required when `fields` lists `merchantId`, as the default does.
   */
  merchantId?: string | undefined;
  /**
   * What is signed, in this order. At least id, clientId, status, total.value and total.currency.
   * @default ["id", "merchantId", "clientId", "total.value", "total.currency", "submittedAt", "status"]
   */
  fields?: Fields | undefined;
  /** @default "sha256" */
  algorithm?: HmacAlgorithm | undefined;
  /** @default "Service-Signature" */
  header?: string | undefined;
}

/**
 * HMAC over chosen fields of the body, joined by commas. It covers those fields only: whatever else the body says
 * reaches handlers as `untrusted`, and nothing is decided by it. There is no signing time among the fields, so
 * an old webhook verifies for ever; `completed` being final is what makes that harmless.
 *
 * @throws ConfigurationError as `hmacSignature`, and `option_missing`, `signed_field_unknown` or
 * `signature_coverage_too_small`
 */
export function fieldsSignature<const Fields extends readonly ListedField[] = typeof defaultSignedFields>(
  options: FieldsSignatureOptions<Fields>,
): SigningScheme<CoveredBy<Fields>> {
  const problems: ConfigurationProblem[] = [];
  const { secrets, warnings } = readSecrets(options.secret, problems);
  const algorithm = readHmacAlgorithm(options.algorithm, problems);
  const header = readHeaderName(options.header, problems);
  const fields = readFields(options.fields, problems);
  const { merchantId } = options;
  checkMerchantId(merchantId, fields.includes("merchantId"), problems);
  const keys = secrets.map((each) => createSecretKey(each));
  const [signing] = keys;
  if (problems.length > 0 || signing === undefined) throw new ConfigurationError(problems);

  const canonical = (payload: Readonly<Record<string, unknown>>) =>
    canonicalFields(payload, { fields, merchantId });
  return Object.freeze<SigningScheme<CoveredBy<Fields>>>({
    header,
    covers: Object.freeze(bodyFields<Fields>(fields)),
    warnings,
    verify({ rawBody, headers, payload }) {
      const given = readSignature(headers, header, { exactly: hexLength(algorithm) });
      return hmacMatches(algorithm, keys, canonical(payload ?? decode(rawBody)), given);
    },
    sign: (rawBody) => hmacHex(algorithm, signing, canonical(decode(rawBody))),
  });
}

function bodyFields<Fields extends readonly ListedField[]>(
  fields: readonly ListedField[],
): CoveredBy<Fields>[] {
  return fields.filter((field): field is CoveredBy<Fields> => field !== "merchantId");
}

function decode(rawBody: Buffer): Record<string, unknown> {
  const decoded = decodeStrict(rawBody);
  if (decoded.ok) return decoded.payload;
  throw new WebhookRejectedError("signed_fields_unreadable", `The body cannot be read: ${decoded.reason}.`);
}

function readFields(
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
      message: "cannot hold captured: it is not a string, and how it would be written is nowhere said.",
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
        message: "is missing; set it to your identifier at the service, which is part of what is signed.",
      });
  } else if (!isSignableText(merchantId) || merchantId !== merchantId.trim())
    problems.push({
      code: "option_invalid",
      option,
      message: "must be text of 1 to 256 characters without comma, control character or space around it.",
    });
}
