import { parseArgs } from "node:util";

export const usage = `npm run simulate [-- options]

Plays many payments against a model of the service whose webhooks are lost, doubled, reordered, changed and strangers', lets
the kit reconcile them, and compares its books and its events with the truth. Exits 0 only where they are equal.

  --payments N   orders to play (100000)
  --seed N       the same seed plays the same (drawn)
  --without-lookup   what it comes to where the service is never asked (not equal, then)
  --kit FOLDER   a kit that is compiled already (default: compiles the sources)
  --json         the result as JSON on standard output
  --quiet        no progress
  --help`;

/** Whole numbers only; what else is given is an error. */
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
