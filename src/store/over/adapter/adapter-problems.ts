import { ConfigurationError, type ConfigurationProblem } from "../../../errors/index.js";
import { isWholeNumber } from "../../../shared/whole-number.js";
import { misspeltOptions, unknownOptions, type NamesOf } from "../../../shared/unknown-names.js";
import { type BatchAdapter, type TransactionAdapter } from "../../adapter.js";
import { shown } from "./answers.js";

const required = { durable: "boolean", read: "function", scan: "function", write: "function" } as const;
const optional = {
  transaction: "function",
  maxChanges: "number",
  now: "function",
  migrate: "function",
  close: "function",
} as const;
const known = { ...required, ...optional } satisfies NamesOf<
  TransactionAdapter<object> & BatchAdapter<unknown>
>;

/**
 * Throws `option_invalid` if a member of the adapter is missing, misspelt or of the wrong type, or if
 * `maxChanges` is less than 60. Also throws it if an option of `storeOver` is unknown or wrong. An adapter
 * may have members of its own. An unknown member is refused only if its name resembles that of a missing
 * member.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function checkAdapter(adapter: unknown, options: { busyTimeoutMs?: unknown }): void {
  const members = Object(adapter) as Readonly<Record<string, unknown>>;
  const { busyTimeoutMs = 0 } = options;
  const missing = Object.keys(known).filter((name) => members[name] === undefined);
  const problems: ConfigurationProblem[] = [
    ...misspeltOptions("adapter.", members, known, missing),
    ...Object.entries(known).flatMap(([name, type]) => memberProblems(name, members[name], type)),
    ...unknownOptions("", options, { busyTimeoutMs: 1 }),
    ...(isWholeNumber(busyTimeoutMs, 0)
      ? []
      : [invalid("busyTimeoutMs", "must be a number of milliseconds.")]),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function memberProblems(name: string, value: unknown, type: string): ConfigurationProblem[] {
  const option = `adapter.${name}`;
  if (value === undefined && !(name in required)) return [];
  if (typeof value !== type) return [invalid(option, `must be a ${type}, and is ${shown(value)}.`)];
  if (name !== "maxChanges" || (value as number) >= 60) return [];
  return [invalid(option, `must be at least 60, and is ${String(value)}.`)];
}

function invalid(option: string, message: string): ConfigurationProblem {
  return { code: "option_invalid", option, message };
}
