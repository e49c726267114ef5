import { parseArgs } from "node:util";

export const usage = `npm run bench -- [--quick] [--smoke] [--only <text>]… [--rounds <n>] [--seconds <n>] [--no-peers]
                    [--minutes <n>] [--without <server>]… [--proof] [--against <commit>] [--json] [--quiet]

  --smoke      measures nothing: starts every contender, sends it some webhooks, and writes no files
  --quick      fewer and shorter rounds: takes about a minute, with more noise
  --only       only suites or contenders whose name contains this text, and the reference; can be repeated
  --rounds     measured rounds of each contender
  --seconds    approximate length of a round; another 40 % of it runs before each round and is not counted
  --no-peers   without the contenders that need other packages
  --minutes    time after which no suite starts, and no contender gets more than three rounds (9)
  --without    postgres or mysql: without the suites that need that server; can be repeated
  --proof      first kill this build while it works, and check what it stored; default without --only
  --against    also builds this commit, and measures both builds alternately; writes no files
  --json       print the result as JSON and write no files
  --quiet      print no progress`;

/** Returns the options of the command line. Throws a TypeError that says what is wrong with it. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      rounds: { type: "string" },
      seconds: { type: "string" },
      "no-peers": { type: "boolean", default: false },
      minutes: { type: "string" },
      without: { type: "string", multiple: true, default: [] },
      proof: { type: "boolean" },
      against: { type: "string" },
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
    proof: values.proof ?? (values.only.length === 0 && !values.smoke),
    minutes: number("minutes", values.quick ? 0.8 : values.smoke ? 60 : 9),
    rounds: Math.round(number("rounds", values.smoke ? 1 : values.quick ? 2 : 7)),
    seconds: number("seconds", values.smoke ? 0.01 : values.quick ? 0.1 : 0.5),
  };
}
