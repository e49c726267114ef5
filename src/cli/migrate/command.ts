import { TillkitError } from "../../errors/index.js";
import { type SchemaState, schemaState, sqlStore } from "../../store/sql/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { databaseOptions, type FoundDatabase, requireDatabase } from "../terminal/database.js";
import { envFileOption, readEnvironment } from "../terminal/environment.js";

export const migrate: Command = {
  name: "migrate",
  summary: "bring the kit's tables to the version that this tillkit wants",
  description: [
    "A store does this by itself at its first use. Do it beforehand where the application may not change tables, or where " +
      "several versions run side by side: tables are only ever added to, so an older tillkit goes on with its own " +
      "until it is restarted.",
    "Safe to run from several places at once, and again. Your own tables are not touched.",
  ],
  options: [
    ...databaseOptions,
    { name: "check", summary: "Only says whether the tables are behind; makes and changes nothing." },
    envFileOption,
  ],
  examples: [
    { summary: "the SQLite file beside the application", command: "tillkit migrate --store shop.db" },
    {
      summary: "the database of the environment, before a deployment",
      command: "tillkit migrate --env-file .env",
    },
    {
      summary: "in a pipeline: fails while the tables are behind",
      command: "tillkit migrate --check --store shop.db",
    },
  ],
  exitCodes: {
    0: "The tables are at the newest version.",
    1: "With --check: they are behind.",
    2: "Used wrongly; no database is named, or of a kind that is not known.",
    3: "The database cannot be reached, is locked, or was made by a newer tillkit.",
  },
  run: runMigrate,
};

async function runMigrate(args: Arguments, context: Context) {
  const { output } = context;
  const found = requireDatabase(args, await readEnvironment(args, context), context);
  const before = await stateOf(found);
  const { kind, version: from, newest } = before;
  const isBehind = from < newest;
  const checks = args.has("check");
  if (isBehind && !checks) await bringUp(found);
  const to = isBehind && !checks ? (await stateOf(found)).version : from;

  const name = `${found.called} (${kind})`;
  if (!isBehind) output.say(`${name} is at version ${to}, the newest.`);
  else if (checks) output.say(`${name} is at version ${from}; this tillkit wants ${newest}.`);
  else output.say(`${name} was at version ${from}, and is now at ${to}.`);
  output.answer({ database: found.called, kind, from, to, newest, behind: to < newest });
  return to < newest ? 1 : 0;
}

async function stateOf({ database, tablePrefix }: FoundDatabase): Promise<SchemaState> {
  const state = await schemaState(database, { tablePrefix });
  if (state.version <= state.newest) return state;
  throw new TillkitError(
    "schema_too_new",
    `The tables have version ${state.version}; this tillkit knows ${state.newest}.`,
    { fix: "Run a newer tillkit." },
  );
}

async function bringUp({ database, tablePrefix }: FoundDatabase): Promise<void> {
  const store = sqlStore(database, { tablePrefix });
  try {
    await store.migrate();
  } finally {
    await store.close();
  }
}
