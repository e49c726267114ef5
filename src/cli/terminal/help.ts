import { readFileSync } from "node:fs";
import path from "node:path";
import { errorFixes } from "../../errors/index.js";
import { didYouMean } from "../../shared/nearest.js";
import { operandError } from "./arguments.js";
import { type Command, type OptionSpec } from "./command.js";
import { type Output, wrap } from "./output.js";
import { readOwnPackage } from "./own-package.js";

/** Returns an option as the help writes it: `--scheme <hmac|fields>`. */
export function writtenOption({ name, short, value }: OptionSpec): string {
  return `${short ? `-${short}, ` : ""}--${name}${value === undefined ? "" : ` <${value}>`}`;
}

/** Returns the usage line of a command: `tillkit sign [options] <file>`. */
export function usageOf({ name, operand, object }: Command): string {
  const written = operand && (operand.optional ? `[${operand.name}]` : `<${operand.name}>`);
  return ["tillkit", name, "[options]", written, object && `[${object.name}]`].filter(Boolean).join(" ");
}

/** Returns the help of `tillkit`: a summary, the usage and the commands. */
export function toolHelp(commands: readonly Pick<Command, "name" | "summary">[], output: Output): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return [
    `${title(output, "tillkit")}: payments through a hosted service, from the command line`,
    "",
    title(output, "Usage"),
    "  tillkit <command> [options]",
    "",
    title(output, "A customer calls"),
    ...twoColumns(firstSteps, output),
    "",
    title(output, "Commands"),
    ...twoColumns(rows, output),
    "",
    'See "tillkit help <command>" for options, examples and exit codes, and "tillkit help errors <code>" for an error.',
  ].join("\n");
}

/** The first commands for a question of a customer or colleague. Each command prints the next one. */
const firstSteps: readonly (readonly [string, string])[] = [
  ["tillkit payments show <text>", "by order, receipt number or id: what happened, and the next step"],
  ["tillkit attention list", "everything that needs a person, each with its next step"],
  ["tillkit statement <file>", "the differences of a statement, each with its next step"],
  ["tillkit handlers list", "handlers that failed, and how to run them again"],
];

/** Returns the help of one command. */
export function commandHelp(command: Command, output: Output): string {
  const { name, summary, description, operand, object, examples, exitCodes } = command;
  const options = command.options.map((option) => [writtenOption(option), option.summary] as const);
  const given = [operand, object].filter((one) => one !== undefined);
  const operands = given.map((one) => [`<${one.name}>`, one.summary] as const);
  return [
    `${title(output, `tillkit ${name}`)}: ${summary}`,
    "",
    title(output, "Usage"),
    `  ${usageOf(command)}`,
    ...description.flatMap((paragraph) => ["", wrap(paragraph, output.width)]),
    "",
    title(output, "Options"),
    ...twoColumns([...operands, ...options], output),
    "",
    title(output, "Examples"),
    ...examples.flatMap((example) => [
      `  ${output.paint("dim", `# ${example.summary}`)}`,
      `  ${example.command}`,
    ]),
    "",
    title(output, "Exit codes"),
    ...twoColumns(Object.entries(exitCodes), output),
  ].join("\n");
}

/**
 * Returns the part of the documents about a code: an error, a rule of attention, or a finding of verify,
 * doctor or statement. Throws `command_operand_invalid` for an unknown code.
 */
export function errorPage(code: string): string {
  const folder = path.join(readOwnPackage().folder, "docs");
  const page = (name: string): string => readFileSync(path.join(folder, name), "utf8");
  const text =
    sectionOf(page("errors.md"), code) ??
    ["cli.md", "doctor.md", "statement.md", "attention.md"]
      .map((name) => rowOf(page(name), code))
      .find(Boolean);
  if (text === undefined)
    throw operandError(`There is no error code "${code}".${didYouMean(code, Object.keys(errorFixes))}`);
  // Links between the documents are relative, so they get the path of the folder.
  return `${code}\n\n${text.replace(/\]\((?=[\w-]+\.md)/g, `](${folder}/`)}`;
}

function sectionOf(page: string, code: string): string | undefined {
  return page.split(`\n### ${code}\n`)[1]?.split(/\n##/, 1)[0]!.trim();
}

/** Finds the row of a table whose first cell names the code. Returns the other cells of this row. */
function rowOf(page: string, code: string): string | undefined {
  const rows = page.split("\n").map((line) => line.split("|").slice(1, -1));
  const row = rows.find(([name]) => name?.includes(`\`${code}\``));
  return row
    ?.slice(1)
    .map((cell) => cell.trim())
    .join("\n\n");
}

/** Returns the help of one command for JSON. JSON omits `run`, because `run` is a function. */
export function describeCommand(command: Command): object {
  return { ...command, usage: usageOf(command) };
}

function title(output: Output, text: string): string {
  return output.paint("bold", text);
}

/** Returns rows of two columns. The second is wrapped, and starts on a new line after a long first column. */
function twoColumns(rows: readonly (readonly [string, string])[], output: Output): string[] {
  const width = Math.min(Math.max(...rows.map(([left]) => left.length)), 28);
  const indent = " ".repeat(width + 4);
  return rows.map(([left, right]) => {
    const text = wrap(right, output.width - indent.length, indent);
    const gap = left.length > width ? `\n${indent}` : " ".repeat(width - left.length + 2);
    return `  ${left}${gap}${text}`;
  });
}
