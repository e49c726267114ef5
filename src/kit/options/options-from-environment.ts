import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { type SignedField } from "../../model/signed-fields.js";
import { isQuoted } from "../../shared/is-quoted.js";
import { unknownOptions } from "../../shared/unknown-names.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type SqlTx } from "../../store/sql/index.js";
import { problemsOf } from "./option-problems.js";
import { optionRows, type OptionRow, readGroup } from "./option-table.js";
import { type PartialOptions, type PaymentsOptions } from "./options.js";
import { type Environment, partVariables } from "./read-variables.js";

/**
 * Returns the options that the `TILLKIT_*` variables set. `paymentRouter()` without an argument uses these
 * options. docs/options.md lists the variables.
 *
 * @throws ConfigurationError with every problem, by the names of the variables.
 */
export function optionsFromEnvironment(
  environment: Environment = process.env,
): PaymentsOptions<never, SqlTx> {
  return completeOptions({}, environment);
}

/** The groups in which each option is completed separately. */
const completedGroups = ["service", "webhook", "returns"] as const;

/**
 * Returns the given options, completed from the `TILLKIT_*` variables. If an option is given, its variable is
 * not read. In `service`, `webhook` and `returns`, each option is completed separately. Every other group is
 * used as a whole.
 *
 * @throws ConfigurationError with every problem. A problem of an option that was not given has the name of
 * the option's variable.
 */
export function completeOptions<Covers extends SignedField, Tx>(
  given: PartialOptions<Covers, Tx>,
  environment: Environment = process.env,
): PaymentsOptions<Covers, Tx> {
  const problems: ConfigurationProblem[] = [];
  const failed = new Set<string>();
  const options: Record<string, unknown> = {
    ...withoutUndefined(readGroup("", given)),
    ...Object.fromEntries(
      completedGroups.map((name) => [name, withoutUndefined(readGroup(name, given[name] ?? {}))]),
    ),
  };
  for (const [option, row] of optionRows.filter(([, { variable, make }]) => variable ?? make)) {
    const [name = "", group] = option.split(".").toReversed();
    const target = group === undefined ? options : (options[group] as Record<string, unknown>);
    if (target[name] !== undefined) continue;
    try {
      const value = valueFrom(environment, option, row);
      if (value !== undefined) target[name] = value;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
      failed.add(option);
    }
  }
  // This type is right only because the router's overloads know which options come from the environment.
  const completed = options as unknown as PaymentsOptions<Covers, Tx>;

  // An option whose variable was refused is not reported again as missing.
  const others = problemsOf(completed, environment as NodeJS.ProcessEnv);
  problems.push(...others.filter(({ option }) => !failed.has(option)));
  // Variables that begin with TILLKIT_TEST_ or TILLKIT_BENCH_ belong to the kit's own tests and benchmark.
  const isOurs = ([name]: [string, unknown]) => /^TILLKIT_(?!TEST_|BENCH_)/.test(name);
  const ours = Object.fromEntries(Object.entries(environment).filter(isOurs));
  problems.push(...unknownOptions("", ours, knownVariables));
  for (const [option, variable] of Object.entries(variables))
    // The scheme itself refuses a secret with quotes.
    if (isQuoted(environment[variable]?.trim() ?? "") && !option.startsWith("signature.secret"))
      problems.push({
        code: "option_invalid",
        option: variable,
        message: "has quotes around its value, as some readers of variables leave them; remove the quotes.",
      });
  if (problems.length > 0)
    throw new ConfigurationError(problems.toSorted(inReadingOrder).map(byVariable({ ...given })));
  return completed;
}

/** Returns the value of an option from the environment, or `undefined`. */
function valueFrom(environment: Environment, option: string, { variable, parse, make }: OptionRow): unknown {
  if (make) return make(environment);
  const text = variable && environment[variable]?.trim();
  if (!text) return undefined;
  return parse ? parse(text, option) : text;
}

/** The variable of each option. Problems name the variable instead of the option. */
const variables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    optionRows.flatMap(([option, { variable }]) => (variable ? [[option, variable]] : [])),
  ),
  ...partVariables,
};
const knownVariables = Object.fromEntries(Object.values(variables).map((name) => [name, 1]));

/** Returns the variable of an option, of its group (`spool` for `spool.directory`), or of its list. */
function variableOf(option: string): string | undefined {
  return variables[option] ?? variables[option.split(/[.[]/, 1)[0]!] ?? variables[option.replace("[0]", "")];
}

function inReadingOrder(a: ConfigurationProblem, b: ConfigurationProblem): number {
  const order = Object.values(variables);
  return order.indexOf(variableOf(a.option) ?? "") - order.indexOf(variableOf(b.option) ?? "");
}

/** Returns a function that replaces the option in a problem by its variable, unless the option was given. */
function byVariable(given: Readonly<Record<string, unknown>>) {
  return ({ code, option, message }: ConfigurationProblem): ConfigurationProblem => {
    const [group = "", name = ""] = option.split(/[.[]/);
    const own = given[group] as Readonly<Record<string, unknown>> | undefined;
    const isGiven =
      ((completedGroups as readonly string[]).includes(group) ? own?.[name] : own) !== undefined;
    return { code, option: isGiven ? option : (variableOf(option) ?? option), message };
  };
}
