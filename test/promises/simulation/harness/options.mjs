import { parseArgs } from "node:util";

export const usage = `npm run simulate [-- options]

Plays many payments against a model of the service. Webhooks are lost, doubled, reordered, changed, or about other payments,
and a backup of the database is restored that does not have the last ones.
Then the stored payments and the events are compared with the service. Exits with 0 only where they are equal.

  --payments N   number of orders (100000)
  --seed N       repeats an earlier run (default: random)
  --without-lookup   the kit never asks the service (then the result is not equal)
  --kit FOLDER   a compiled kit (default: compiles the sources)
  --json         the result as JSON on standard output
  --quiet        no progress
  --help`;

/** Reads the options. Throws where a number is not a whole number. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      payments: { type: "string", default: "100000" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
      "without-lookup": { type: "boolean", default: false },
      kit: { type: "string" },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [payments, seed] = [Number(values.payments), Number(values.seed)];
  if (!Number.isInteger(payments) || payments < 1 || !Number.isInteger(seed) || seed < 0)
    throw new Error("--payments must be a whole number from 1, and --seed one from 0.");
  return { ...values, payments, seed };
}
