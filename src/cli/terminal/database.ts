import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { type Context, type OptionSpec, type Arguments } from "./command.js";
import { type Environment } from "./environment.js";

export const databaseOptions: readonly OptionSpec[] = [
  {
    name: "store",
    value: "database",
    summary: "A SQLite file, or a postgres:// or mysql:// address. Default: TILLKIT_DATABASE.",
  },
  { name: "table-prefix", value: "text", summary: "What the kit's tables begin with. Default: tillkit_." },
];

/** A database that was named, and how it may be called: without its password. */
export interface FoundDatabase {
  database: string;
  called: string;
  tablePrefix?: string;
}

/** The database of `--store`, or of the environment; `undefined` where neither names one. */
export function findDatabase(
  args: Arguments,
  environment: Environment,
  { cwd }: Pick<Context, "cwd">,
): FoundDatabase | undefined {
  const named = args.get("store") ?? (environment["TILLKIT_DATABASE"]?.trim() || undefined);
  if (named === undefined) return undefined;
  const tablePrefix = args.get("table-prefix");
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(named) && !/^(sqlite|file):/i.test(named);
  const file = named.replace(/^(sqlite|file):(\/\/)?/i, "");
  // The kit itself refuses this one, with the reason.
  const database = isAddress || file === ":memory:" ? named : path.resolve(cwd, file);
  return { database, called: isAddress ? calledAddress(named) : file, ...(tablePrefix && { tablePrefix }) };
}

/** @throws TillkitError `command_option_invalid` where no database is named. */
export function requireDatabase(...found: Parameters<typeof findDatabase>): FoundDatabase {
  const database = findDatabase(...found);
  if (database) return database;
  const message = "No database is named: --store was not given, and TILLKIT_DATABASE is not set.";
  throw new TillkitError("command_option_invalid", message, {
    fix: "Give --store shop.db, --store postgres://… or --store mysql://…, or set TILLKIT_DATABASE.",
  });
}

/** The address without user and password; only its kind where it cannot be read. */
function calledAddress(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return address.slice(0, address.indexOf("//") + 2);
  }
}
