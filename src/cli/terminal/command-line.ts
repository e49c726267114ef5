import { optionText, withOperand } from "../../shared/command-text.js";
import { hasPassword } from "../../shared/database-address.js";
import { type Arguments } from "./command.js";

/** The options that name the person and the reason. A person replaces the parts in angle brackets. */
export const byPerson = ["--by", "<name>", "--reason", "<why>"];

/**
 * Returns a command for a shell, with the database and the variable files of this call. `given` contains the
 * command, its action, its operand if it has one, and pairs of an option and a value.
 */
export function commandLine(given: readonly string[], args: Arguments): string {
  const operand = given.length % 2 === 1 ? given[2] : undefined;
  const own = optionsText(given.slice(operand === undefined ? 2 : 3));
  const options = [own, databaseText(args)].filter((text) => text !== "").join(" ");
  const command = `tillkit ${given.slice(0, 2).join(" ")}`;
  return withOperand(command, operand === undefined ? "" : quoted(operand), options);
}

/** Returns the lines of next steps. Each command gets the database and the variable files of this call. */
export function stepLines(next: string, args: Arguments): string[] {
  const database = databaseText(args);
  return next.split("\n").map((line) => {
    if (!line.startsWith("tillkit ")) return line;
    const [command = "", operand] = line.split(" -- ");
    const parts = [command, database, operand === undefined ? "" : `-- ${operand}`];
    return `  ${parts.filter((part) => part !== "").join(" ")}`;
  });
}

function databaseText(args: Arguments): string {
  const [store, prefix] = [args.get("store"), args.get("table-prefix")];
  return optionsText([
    ...(store === undefined || hasPassword(store) ? [] : ["--store", store]),
    ...(prefix ? ["--table-prefix", prefix] : []),
    ...args.all("env-file").flatMap((file) => ["--env-file", file]),
  ]);
}

/** Returns options with their values as one string. */
function optionsText(given: readonly string[]): string {
  const parts = given.map(quoted);
  return parts
    .flatMap((part, index) => (index % 2 === 0 ? [optionText(part, parts[index + 1]!)] : []))
    .join(" ");
}

function quoted(word: string): string {
  if (/^[\w.,:/=+@%-]+$/.test(word) || /^<[\w ]+>$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
