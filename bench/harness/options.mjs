import { parseArgs } from "node:util";

export const usage = `npm run bench -- [--quick] [--only <text>]… [--rounds <n>] [--seconds <n>] [--no-peers]
                    [--without-postgres] [--json] [--quiet]

  --quick      fewer and shorter rounds: within a minute, and noisier
  --only       suites whose name, or contenders whose name, holds this text; with its reference; may be repeated
  --rounds     measured rounds of each contender
  --seconds    about how long a round lasts
  --no-peers   without the contenders that need other packages
  --without-postgres  without the suites that need a server
  --json       the result as JSON on standard output, and no files
  --quiet      no progress`;

/** The command line, or an error that says what is wrong with it. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      rounds: { type: "string" },
      seconds: { type: "string" },
      "no-peers": { type: "boolean", default: false },
      "without-postgres": { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const number = (name, usual) => {
    const value = values[name] === undefined ? usual : Number(values[name]);
    if (!(value > 0)) throw new TypeError(`--${name} must be a number above 0.`);
    return value;
  };
  return {
    ...values,
    peers: !values["no-peers"],
    postgres: !values["without-postgres"],
    rounds: Math.round(number("rounds", values.quick ? 2 : 7)),
    seconds: number("seconds", values.quick ? 0.3 : 1),
  };
}
