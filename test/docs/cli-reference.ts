import { type Command } from "../../src/cli/terminal/command.js";
import { wrap } from "../../src/cli/terminal/output.js";
import { optionsOf, usageOf, writtenOption } from "../../src/cli/terminal/help.js";

/** What docs/cli.md must say of a command, word for word: it is made of what the help is made of. */
export function referenceOf(command: Command): string {
  const { description, operand, examples, exitCodes } = command;
  const row = (left: string, right: string) => `| ${left} | ${right.replaceAll("|", "\\|")} |`;
  const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;
  return [
    "```sh",
    usageOf(command),
    "```",
    ...description.flatMap((paragraph) => ["", wrap(paragraph, 110)]),
    "",
    "| Option | What it does |",
    "|---|---|",
    ...(operand ? [row(code(`<${operand.name}>`), operand.summary)] : []),
    ...optionsOf(command).map((option) => row(code(writtenOption(option)), option.summary)),
    "",
    "```sh",
    ...examples.flatMap(({ summary, command: line }) => [`# ${summary}`, line]),
    "```",
    "",
    "| Exit code | Means |",
    "|---|---|",
    ...Object.entries(exitCodes).map(([exit, meaning]) => row(exit, meaning)),
  ].join("\n");
}
