import path from "node:path";
import { parseArgs } from "node:util";
import { defectModes } from "./defect-modes.mjs";

export const usage = `npm run crash -- [options]
  --store sqlite|postgres|mysql   the store (default sqlite)
  --store-module PATH   kill: the store that this module makes, see open-store.cjs in test/promises/crash/harness
  --mode kill|stop|database|disk|flood   the kind of failure (default kill, or the mode of the defect)
  --cycles N       number of failures (default 200; stop 20, database 5, disk 5)
  --seed S         repeats the plan of an earlier run (default: random; always printed)
  --processes P    number of shops (default 2; flood 4)
  --shared         kill: runs of the handler share transactions, and more orders are paid at the same time
  --defect NAME    ${Object.keys(defectModes).join(", ")}
  --events N, --copies C   flood: number of webhooks, and of copies of each (default 10000, 20)
  --outage-ms N    database: time for which the server is down (default: random, 100 to 600 ms)
  --disk mount|pages   disk: a small file system (needs root), or SQLite's own page limit (default: mount where possible)
  --kit FOLDER     a compiled kit (default: compiles the sources)
  --json           the result as one line of JSON on standard output
  --quiet          no progress
Addresses: TILLKIT_TEST_POSTGRES_URL, TILLKIT_TEST_MYSQL_URL.
Exits with 0 when nothing was lost, unexpected or duplicated; 1 when something was; 2 when the run proves nothing, because
no crash hit anything; 3 when it could not run.`;

const cyclesOf = { kill: 200, stop: 20, database: 5, disk: 5, flood: 1 };

/** An error that prevents the harness from running. */
export class CannotRun extends Error {}

export function readOptions(args) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = {
    store: {
      ...text,
      default: "sqlite",
    },
    "store-module": text,
    mode: text,
    cycles: text,
    seed: text,
    processes: text,
    shared: flag,
    defect: text,
    events: text,
    copies: text,
    "outage-ms": text,
    disk: text,
    kit: text,
    json: flag,
    quiet: flag,
    help: {
      ...flag,
      short: "h",
    },
  };
  let values;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new CannotRun(`${error.message}\n\n${usage}`);
  }
  if (values.help) return { help: true };

  const { store, defect, json, quiet, disk } = values;
  const kit = values.kit && path.resolve(values.kit);
  oneOf("store", store, ["sqlite", "postgres", "mysql"]);
  if (defect !== undefined) oneOf("defect", defect, Object.keys(defectModes));
  if (disk !== undefined) oneOf("disk", disk, ["mount", "pages"]);
  const mode = oneOf("mode", values.mode ?? defectModes[defect] ?? "kill", Object.keys(cyclesOf));
  const module = values["store-module"] && path.resolve(values["store-module"]);
  if (module && mode !== "kill") throw new CannotRun("--store-module works with --mode kill only.");
  if (values.shared && mode !== "kill") throw new CannotRun("--shared works with --mode kill only.");
  if (mode === "database" && store === "sqlite")
    throw new CannotRun("SQLite has no server to kill; use --mode disk.");
  if (mode === "disk" && store !== "sqlite")
    throw new CannotRun("--mode disk fills the disk of SQLite; it works with no other store.");
  const seed = number("seed", values.seed ?? `${Math.floor(Math.random() * 2 ** 31)}`);
  return {
    store: module ? path.basename(module) : store,
    module,
    mode,
    seed,
    defect,
    shared: values.shared,
    kit,
    json,
    quiet,
    disk,
    cycles: number("cycles", values.cycles ?? cyclesOf[mode]),
    processes: number("processes", values.processes ?? (mode === "flood" ? 4 : 2)),
    events: number("events", values.events ?? 1e4),
    copies: number("copies", values.copies ?? 20),
    outageMs: values["outage-ms"] === undefined ? undefined : number("outage-ms", values["outage-ms"]),
  };
}

function oneOf(name, value, known) {
  if (known.includes(value)) return value;
  throw new CannotRun(`--${name} must be one of ${known.join(", ")}, not ${value}.`);
}

function number(name, value) {
  const parsed = Number(value);
  if (Number.isSafeInteger(parsed) && parsed >= (name === "seed" ? 0 : 1)) return parsed;
  throw new CannotRun(`--${name} must be a whole number, not ${value}.`);
}
