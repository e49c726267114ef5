import path from "node:path";
import { parseArgs } from "node:util";

export const usage = `npm run fuzz -- [options]
  --count N     maximum number of mutations (default 1000000)
  --seconds S   maximum number of seconds (default: no limit)
  --seed S      repeats the mutations of an earlier run (default: random; always printed)
  --case N      shows one mutation of that seed in full
  --http N      number of mutations that go through the router, over HTTP (default: one in 500, at most 20000)
  --kit FOLDER  a compiled kit to use instead of dist/cjs (default: builds the package first)
  --json        the result as one line of JSON on standard output
  --quiet       no progress
Exits with 0 when every unsigned message was refused and every signed message was accepted; 1 when not, with the seed and the
number of the case; 3 when it could not run.`;

/** An error that prevents the run from starting. */
export class CannotRun extends Error {}

export function readOptions(args) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        count: text,
        seconds: text,
        seed: text,
        case: text,
        http: text,
        kit: text,
        json: flag,
        quiet: flag,
        help: { ...flag, short: "h" },
      },
    }));
  } catch (error) {
    throw new CannotRun(`${error.message}\n\n${usage}`);
  }
  if (values.help) return { help: true };
  const count = number("count", values.count, 1e6);
  return {
    count,
    seconds: number("seconds", values.seconds, undefined),
    seed: number("seed", values.seed, Math.floor(Math.random() * 2 ** 32)) % 2 ** 32,
    only: number("case", values.case, undefined),
    http: number("http", values.http, Math.min(20_000, Math.floor(count / 500))),
    kit: values.kit && path.resolve(values.kit),
    json: values.json,
    quiet: values.quiet,
  };
}

function number(name, value, otherwise) {
  if (value === undefined) return otherwise;
  const parsed = Number(value);
  if (Number.isSafeInteger(parsed) && parsed >= 0) return parsed;
  throw new CannotRun(`--${name} must be a whole number, not ${value}.`);
}
