import { type ConfigurationProblem } from "../../errors/index.js";
import { type SignatureScheme } from "./scheme.js";
import { isSignedField, indispensableFields, signedFields } from "../../model/signed-fields.js";

/**
 * What is wrong with the coverage of a scheme, shipped or the merchant's own; an empty list when nothing is. Covering
 * less than {@link indispensableFields} would let somebody complete a payment with an amount that nobody signed.
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
  const lacking = indispensableFields.filter((field) => !names.includes(field));
  if (lacking.length > 0)
    problems.push({
      code: "signature_coverage_too_small",
      option,
      message: `does not cover ${lacking.join(", ")}; without them anybody could choose what is paid.`,
    });
  return problems;
}

function unknownField(option: string, message: string): ConfigurationProblem {
  return { code: "signed_field_unknown", option, message };
}
