import { type Arguments } from "./command.js";

/** Options that say who does it and why. People fill in what is in angle brackets. */
export const byPerson = ["--by", "<your name>", "--reason", "<why>"];

/**
 * Returns a command that people can copy into a shell, with the database and the files of variables that this call
 * names.
 */
export function commandLine(given: readonly string[], args: Arguments): string {
  const [store, prefix] = [args.get("store"), args.get("table-prefix")];
  const hasPassword = store !== undefined && URL.canParse(store) && new URL(store).password !== "";
  const database = [
    ...(store === undefined || hasPassword ? [] : ["--store", store]),
    ...(prefix ? ["--table-prefix", prefix] : []),
    ...args.all("env-file").flatMap((file) => ["--env-file", file]),
  ];
  return ["tillkit", ...given, ...database].map(quoted).join(" ");
}

/** Returns what to add to the commands of attention, which name no database; empty where the environment names it. */
export function databaseHint(args: Arguments): string {
  const names = ["store", "env-file"].filter((name) => args.has(name)).map((name) => `--${name}`);
  return names.length > 0 ? `Add ${names.join(" and ")} to each command, as you did here.` : "";
}

function quoted(word: string): string {
  if (/^[\w.,:/=+@%-]+$/.test(word) || /^<[\w ]+>$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
