import { type ConfigurationProblem } from "../../errors/index.js";
import { type SignedField } from "../../model/signed-fields.js";
import { unknownOptions } from "../../shared/unknown-names.js";
import { optionGroupOf, optionRows, optionsIn, fillDefaults } from "./option-table.js";
import { type PaymentsOptions } from "./options.js";

/** Returns all problems of the options. The list is empty if the kit can use them. */
export function problemsOf<Covers extends SignedField, Tx>(
  options: PaymentsOptions<Covers, Tx>,
  environment: NodeJS.ProcessEnv,
): ConfigurationProblem[] {
  const all = {
    options: options as PaymentsOptions,
    environment,
    paths: fillDefaults("paths", options.paths),
  };
  const groups = new Set(optionRows.map(([option]) => optionGroupOf(option)));
  return [
    ...[...groups].flatMap((group) =>
      unknownOptions(group && `${group}.`, valueAt(options, group), optionsIn(group)),
    ),
    ...optionRows.flatMap(([option, { check }]) => check?.(option, valueAt(options, option), all) ?? []),
  ];
}

/** Returns the value at a path such as `webhook.failures.burst`. */
function valueAt(options: object, option: string): unknown {
  const names = option === "" ? [] : option.split(".");
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    options,
  );
}
