import { optionText, withOperand } from "../../shared/command-text.js";
import { type Arguments } from "./command.js";

/** Options that say who does it and why. People fill in what is in angle brackets. */
export const byPerson = ["--by", "<your name>", "--reason", "<why>"];

/**
 * Returns a command that people can copy into a shell, with the database and the files of variables that this call
 * names. `given` has the command, its action, its operand if it has one, and options with a value each.
 */
export function commandLine(given: readonly string[], args: Arguments): string {
  const [store, prefix] = [args.get("store"), args.get("table-prefix")];
  const hasPassword = store !== undefined && URL.canParse(store) && new URL(store).password !== "";
  const database = [
    ...(store === undefined || hasPassword ? [] : ["--store", store]),
    ...(prefix ? ["--table-prefix", prefix] : []),
    ...args.all("env-file").flatMap((file) => ["--env-file", file]),
  ];
  const operand = given.length % 2 === 1 ? given[2] : undefined;
  const parts = [...given.slice(operand === undefined ? 2 : 3), ...database].map(quoted);
  const options = parts.flatMap((word, index) =>
    index % 2 === 0 ? [optionText(word, parts[index + 1]!)] : [],
  );
  const command = `tillkit ${given.slice(0, 2).join(" ")}`;
  return withOperand(command, operand === undefined ? "" : quoted(operand), options.join(" "));
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
