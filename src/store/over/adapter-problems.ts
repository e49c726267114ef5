import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { misspeltOptions, unknownOptions, type NamesOf } from "../../shared/unknown-names.js";
import { type BatchAdapter, type TransactionAdapter } from "./adapter.js";

const required = { durable: "boolean", read: "function", scan: "function", write: "function" } as const;
const optional = { transaction: 1, maxChanges: 1, now: 1, migrate: 1, close: 1 } as const;
const known = { ...required, ...optional } satisfies NamesOf<
  TransactionAdapter<object> & BatchAdapter<unknown>
>;

/**
 * Throws if a required member of the adapter is missing, or if one is misspelt. An adapter may have members of its own, so
 * another name is refused only if it is near to a member that the adapter does not have.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function checkAdapter(adapter: object, options: object): void {
  const members = adapter as Readonly<Record<string, unknown>>;
  const missing = Object.keys(known).filter((name) => members[name] === undefined);
  const problems: ConfigurationProblem[] = [
    ...misspeltOptions("adapter.", adapter, known, missing),
    ...Object.entries(required).flatMap(([name, type]): ConfigurationProblem[] =>
      typeof members[name] === type
        ? []
        : [{ code: "option_invalid", option: `adapter.${name}`, message: `must be a ${type}.` }],
    ),
    ...unknownOptions("", options, { busyTimeoutMs: 1 }),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}
