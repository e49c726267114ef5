import { existsSync } from "node:fs";
import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { hasPassword } from "../../shared/database-address.js";
import { schemaState } from "../../store/sql/index.js";
import { optionError } from "./arguments.js";
import { type Arguments, type InputContext } from "./command.js";

export const databaseOptions = {
  "--store <database>": "A SQLite file, or a postgres:// or mysql:// address. Default: TILLKIT_DATABASE.",
  "--table-prefix <text>": "The prefix of the kit's table names. Default: tillkit_.",
};

/** The database that the options or the environment name. */
export interface NamedDatabase {
  /** The absolute path or the address, for `sqlStore`. */
  database: string;
  /** The name for messages, without user and password. */
  label: string;
  tablePrefix: string | undefined;
}

/**
 * Returns the database of `--store` or of the environment; `undefined` if neither names one. A relative path
 * in the environment starts from `appFolder`.
 */
export function findDatabase(
  args: Arguments,
  { cwd, env, output }: InputContext,
  appFolder = cwd,
): NamedDatabase | undefined {
  const named = args.get("store") ?? (env["TILLKIT_DATABASE"]?.trim() || undefined);
  if (named === undefined) return undefined;
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(named) && !/^(sqlite|file):/i.test(named);
  const file = named.replace(/^(sqlite|file):(\/\/)?/i, "");
  // `:memory:` is not resolved as a path, so that the kit refuses it with a reason.
  const folder = args.has("store") ? cwd : appFolder;
  const database = isAddress || file === ":memory:" ? named : path.resolve(folder, file);
  const label = isAddress ? withoutPassword(named) : file;
  if (args.has("store") && hasPassword(named))
    output.log(
      "warning secret_on_command_line: others can see the password of --store in the process list and in the shell's history; " +
        "set TILLKIT_DATABASE.",
    );
  return { database, label, tablePrefix: args.get("table-prefix") || undefined };
}

/** Returns the database of `--store` or the environment. Without a name, throws `command_option_invalid`. */
export function requireDatabase(args: Arguments, context: InputContext): NamedDatabase {
  const found = findDatabase(args, context);
  if (found) return found;
  throw optionError(
    "No database is named: --store was not given, and TILLKIT_DATABASE is not set.",
    "Give --store shop.db, --store postgres://… or --store mysql://…, or set TILLKIT_DATABASE.",
  );
}

/**
 * Returns the database that is named. Throws `store_unavailable` if the database has no tables of the kit.
 * Without this check, a store would create the tables, and a mistyped name would become a new database.
 */
export async function requireTables(args: Arguments, context: InputContext): Promise<NamedDatabase> {
  const found = requireDatabase(args, context);
  const { kind, version } = await schemaState(found.database, { tablePrefix: found.tablePrefix });
  if (version > 0) return found;
  const isMissing = kind === "sqlite" && !existsSync(found.database);
  const message = isMissing ? `There is no file ${found.label}.` : `${found.label} has no tables of the kit.`;
  const fix = "Name the application's database, and its --table-prefix if the application sets one.";
  throw new TillkitError("store_unavailable", message, { fix });
}

/** Returns the address without user and password; only its protocol if it cannot be parsed. */
function withoutPassword(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return address.slice(0, address.indexOf("//") + 2);
  }
}
