import { type ErrorCode, TillkitError } from "../../errors/index.js";

/** The kind of one argument. With a question mark, the argument may be left out. */
type Kind = "object" | "object?" | "text" | "key" | "function" | "rows";

const isObject = (given: unknown): boolean =>
  typeof given === "object" && given !== null && !Array.isArray(given);
const kinds: Readonly<Record<Kind, { is: (given: unknown) => boolean; expected: string }>> = {
  object: { is: isObject, expected: "an object" },
  "object?": { is: (given) => given === undefined || isObject(given), expected: "an object, or left out" },
  text: { is: (given) => typeof given === "string", expected: "a string" },
  key: {
    is: (given) => typeof given === "string" || isObject(given),
    expected: "a clientId, { serviceId } or { providerId }",
  },
  function: { is: (given) => typeof given === "function", expected: "a function" },
  rows: {
    is: (given) => isIterable(given, Symbol.asyncIterator) || isIterable(given, Symbol.iterator),
    expected: "the rows of readStatement, or others that can be iterated",
  },
};

function isIterable(given: unknown, by: symbol): boolean {
  return typeof given === "object" && given !== null && by in given;
}

/** The methods whose arguments are checked: the code of the error, and the kind of each argument. */
const methods = {
  adopt: ["option_invalid", "object"],
  resolve: ["resolution_invalid", "object"],
  compareStatement: ["option_invalid", "rows", "object?"],
  find: ["query_invalid", "key"],
  list: ["query_invalid", "object?"],
  history: ["query_invalid", "text", "object?"],
  figures: ["query_invalid", "object"],
  replay: ["query_invalid", "object?"],
  replayDispatches: ["query_invalid", "object?"],
  attention: ["query_invalid", "object?"],
  attend: ["resolution_invalid", "text", "object"],
  pauseHandler: ["option_invalid", "text", "object"],
  resumeHandler: ["option_invalid", "text", "object"],
  limitHandler: ["option_invalid", "text", "object"],
  retireHandler: ["option_invalid", "text", "object?"],
  prune: ["query_invalid", "object"],
  start: ["option_invalid", "object?"],
  receiveWebhook: ["option_invalid", "object"],
  handleReturn: ["option_invalid", "object"],
  claimPaid: ["option_invalid", "object"],
  on: ["option_invalid", "text", "function", "object?"],
  onAny: ["option_invalid", "function", "object?"],
  onPaymentCompleted: ["option_invalid", "function", "object?"],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, ...Kind[]]>>;

const synchronous: readonly string[] = ["compareStatement", "on", "onAny", "onPaymentCompleted"];

/** Returns the methods with checks of their arguments. `list("…")` would otherwise list all payments. */
export function withCheckedArguments<Given extends Record<keyof typeof methods, unknown>>(
  given: Given,
): Given {
  const checked = Object.entries(methods).map(([name, [code, ...expected]]) => {
    const method = given[name as keyof typeof methods] as (...args: unknown[]) => unknown;
    const refuse = (args: readonly unknown[]): TillkitError | undefined => {
      const at = expected.findIndex((kind, index) => !kinds[kind].is(args[index]));
      if (at < 0) return undefined;
      const which = expected.length === 1 ? "its argument" : `argument ${at + 1}`;
      return new TillkitError(code, `payments.${name}: ${which} must be ${kinds[expected[at]!].expected}.`);
    };
    const call = (...args: unknown[]): unknown => {
      const error = refuse(args);
      if (!error) return method(...args);
      if (synchronous.includes(name)) throw error;
      return Promise.reject(error);
    };
    return [name, call];
  });
  return { ...given, ...Object.fromEntries(checked) };
}
