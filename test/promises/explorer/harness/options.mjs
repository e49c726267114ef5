import { parseArgs } from "node:util";

export const usage = `npm run explore -- [options]

Runs the whole kit in one process, in a simulated world: store, disk, network, service, clock and up to three processes
that share them. In a quarter of the runs the store is storeOver of the kit. The seed decides the order of everything, and
which faults happen. After each run everything settles without faults, and what must always hold is checked: also that the
health and the notices say what went wrong. In some runs something goes wrong for a while after that, such as a spool that
cannot be read, or the database becomes an older copy.

  --runs <n>     how many seeds (1000)
  --seed <n>     the first seed (1); a seed that fails repeats exactly
  --from <n>     skip so many seeds after the first one (0)
  --twice        run each seed two times, and compare all steps
  --trace        print every step of the first run
  --planted      plant known faults in copies of the kit, and count the runs until each is found (at most --runs, 20000)
  --only <text>  with --planted: only the faults whose name contains the text
  --kit <folder> a compiled kit, instead of compiling the sources
  --max-ms <n>   stop after this time
  --json         print the result as JSON
  --quiet        no progress

Exit code: 0 nothing was violated, 1 something was (or a planted fault was not found), 3 the explorer itself failed.`;

/** Reads the arguments of the command. */
export function readOptions(args) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const { values } = parseArgs({
    args,
    options: {
      runs: text,
      seed: text,
      from: text,
      kit: text,
      only: text,
      "max-ms": text,
      trace: flag,
      twice: flag,
      planted: flag,
      json: flag,
      quiet: flag,
      help: flag,
    },
  });
  const number = (name, fallback) => {
    const value = values[name] === undefined ? fallback : Number(values[name]);
    if (!(value >= 0)) throw new Error(`--${name} must be a number.`);
    return value;
  };
  return {
    ...values,
    runs: number("runs", values.planted ? 20_000 : 1000),
    seed: number("seed", 1) + number("from", 0),
    maxMs: number("max-ms", Infinity),
  };
}
