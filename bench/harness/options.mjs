import { parseArgs } from "node:util";

export const usage = `npm run bench -- [--quick] [--only <text>]… [--rounds <n>] [--seconds <n>] [--no-peers]
                    [--minutes <n>] [--without <server>]… [--proof] [--json] [--quiet]

  --quick      fewer and shorter rounds: about a minute, and noisier
  --only       suites whose name, or contenders whose name, holds this text; with its reference; may be repeated
  --rounds     measured rounds of each contender
  --seconds    about how long a round lasts, besides the two fifths of that before it which are not counted
  --no-peers   without the contenders that need other packages
  --minutes    past which no suite is begun, nor a round more than three of each contender; usually 9
  --without    postgres or mysql: without the suites that need that server; may be repeated
  --proof      kills this build in the middle of its work before it is measured; usual where nothing is picked by --only
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
      minutes: { type: "string" },
      without: { type: "string", multiple: true, default: [] },
      proof: { type: "boolean" },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = values.without.find((name) => name !== "postgres" && name !== "mysql");
  if (unknown !== undefined) throw new TypeError(`--without takes postgres or mysql, not ${unknown}.`);
  const number = (name, usual) => {
    const value = values[name] === undefined ? usual : Number(values[name]);
    if (!(value > 0)) throw new TypeError(`--${name} must be a number above 0.`);
    return value;
  };
  return {
    ...values,
    peers: !values["no-peers"],
    proof: values.proof ?? values.only.length === 0,
    minutes: number("minutes", values.quick ? 0.8 : 9),
    rounds: Math.round(number("rounds", values.quick ? 2 : 7)),
    seconds: number("seconds", values.quick ? 0.1 : 0.5),
  };
}
