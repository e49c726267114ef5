import { type Command } from "../../src/cli/terminal/command.js";
import { usageOf, writtenOption } from "../../src/cli/terminal/help.js";
import { wrap } from "../../src/cli/terminal/output.js";

/** Returns the text that docs/cli.md must have about a command. It is made from the same data as the help. */
export function referenceOf(command: Command): string {
  const { description, operand, object, options, examples, exitCodes } = command;
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
    ...[operand, object].flatMap((one) => (one ? [row(code(`<${one.name}>`), one.summary)] : [])),
    ...options.map((option) => row(code(writtenOption(option)), option.summary)),
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
