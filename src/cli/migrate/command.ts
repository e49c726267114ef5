import { TillkitError } from "../../errors/index.js";
import { type SchemaState, schemaState, sqlStore } from "../../store/sql/index.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions, type NamedDatabase, requireDatabase } from "../terminal/database.js";
import { envFileOption } from "../terminal/read-file.js";

export const migrateCommand: CommandDefinition = {
  description: [
    "Makes or upgrades the tables. A store does this itself at its first use. Run this command before " +
      "that if the application has no right to change tables, or if several versions run at the same time. " +
      "A new version only adds to the tables, so an older tillkit continues to work until you restart it.",
    "You can run it several times, and in several places at the same time. It does not change your own " +
      "tables.",
  ],
  options: {
    ...databaseOptions,
    "--check": "Only checks whether the tables are behind; changes nothing.",
    ...envFileOption,
  },
  examples: {
    "the SQLite file beside the application": "tillkit migrate --store shop.db",
    "the database of the environment, before a deployment": "tillkit migrate --env-file .env",
    "in a pipeline: fails while the tables are behind": "tillkit migrate --check --store shop.db",
  },
  exitCodes: {
    0: "The tables are at the newest version.",
    1: "With --check: the tables are behind.",
    2: "Used wrongly; no database is named, or its kind is not known.",
    3: "The database cannot be reached, is locked, can be written to by others, or was made by a newer tillkit.",
  },
  async run(args, context) {
    const { output } = context;
    const found = requireDatabase(args, context);
    const { kind, version: from, newest } = await readState(found);
    const isBehind = from < newest;
    const onlyChecks = args.has("check");
    if (isBehind && !onlyChecks) await updateTables(found);
    const to = isBehind && !onlyChecks ? (await readState(found)).version : from;

    const name = `${found.label} (${kind})`;
    if (!isBehind) output.print(`${name} is at version ${to}, the newest.`);
    else if (onlyChecks) output.print(`${name} is at version ${from}; this tillkit needs ${newest}.`);
    else output.print(`${name} was at version ${from}, and is now at ${to}.`);
    output.printJson({ database: found.label, kind, from, to, newest, behind: to < newest });
    return to < newest ? 1 : 0;
  },
};

async function readState({ database, tablePrefix }: NamedDatabase): Promise<SchemaState> {
  const state = await schemaState(database, { tablePrefix });
  if (state.version <= state.newest) return state;
  throw new TillkitError(
    "schema_too_new",
    `The tables have version ${state.version}; this tillkit knows ${state.newest}.`,
    { fix: "Run a newer tillkit." },
  );
}

async function updateTables({ database, tablePrefix }: NamedDatabase): Promise<void> {
  const store = sqlStore(database, { tablePrefix });
  try {
    await store.migrate();
  } finally {
    await store.close();
  }
}
