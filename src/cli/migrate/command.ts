import { TillkitError } from "../../errors/index.js";
import { type SchemaState, schemaState, sqlStore } from "../../store/sql/index.js";
import { type CommandDefinition } from "../terminal/command.js";
import { databaseOptions, type NamedDatabase, requireDatabase } from "../terminal/database.js";
import { envFileOption } from "../terminal/read-file.js";

export const migrateCommand: CommandDefinition = {
  description: [
    "Creates or upgrades the kit's tables, as a store does at its first use. Run this command before " +
      "the first use if the application has no right to change tables, or if several versions run at the " +
      "same time. Running processes of an older version continue to work, because a new version only adds " +
      "columns and tables.",
    "You can run this command several times, and in several places at the same time. The command does " +
      "not change your own tables.",
  ],
  options: {
    ...databaseOptions,
    "--check": "Only checks whether the tables have an older version, and changes nothing.",
    ...envFileOption,
  },
  examples: {
    "upgrade the SQLite file beside the application": "tillkit migrate --store shop.db",
    "upgrade the database from the environment, before a deployment": "tillkit migrate --env-file .env",
    "fail in a pipeline while the tables have an older version": "tillkit migrate --check --store shop.db",
  },
  exitCodes: {
    0: "The tables have the newest version.",
    1: "With --check: the tables have an older version.",
    2: "The command was used wrongly, no database is named, or the kind of database is not known.",
    3: "The database cannot be reached, is locked, can be written by others, or was made by a newer tillkit.",
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
    else if (onlyChecks) output.print(`${name} is at version ${from}; this tillkit needs version ${newest}.`);
    else output.print(`${name} was at version ${from}, and is now at version ${to}.`);
    output.printJson({ database: found.label, kind, from, to, newest, behind: to < newest });
    return to < newest ? 1 : 0;
  },
};

async function readState({ database, tablePrefix }: NamedDatabase): Promise<SchemaState> {
  const state = await schemaState(database, { tablePrefix });
  if (state.version <= state.newest) return state;
  throw new TillkitError(
    "schema_too_new",
    `The tables have version ${state.version}, but this tillkit supports at most version ${state.newest}.`,
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
