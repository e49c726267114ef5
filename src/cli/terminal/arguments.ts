import { type Arguments } from "./command.js";
import { parseArgs } from "node:util";
import { TillkitError } from "../../errors/index.js";
import { type Command, type OptionSpec } from "./command.js";
import { nearest } from "./nearest.js";

/** Options that every command has. */
export const commonOptions: readonly OptionSpec[] = [
  {
    name: "json",
    summary: "One JSON document on standard output; what people read goes to the error stream.",
  },
  { name: "help", short: "h", summary: "Shows this help." },
];

/**
 * Reads what stands after the command's name.
 *
 * @throws TillkitError `command_option_unknown`, `command_option_invalid` or `command_operand_invalid`
 */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const specs = [...command.options, ...commonOptions];
  const { tokens } = parseArgs({
    args: [...argv],
    // Everything is judged below, by the tokens: Node's own words name neither the nearest option nor a code.
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      specs.map(({ name, short, value }) => [
        name,
        {
          type: value === undefined ? "boolean" : "string",
          multiple: true,
          ...(short && { short }),
        } as const,
      ]),
    ),
  });
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const spec =
      specs.find(({ name }) => name === token.name) ?? unknownOption(command, token.rawName, specs);
    const values = given.get(spec.name) ?? [];
    if (values.length > 0 && !spec.repeated) throw invalid(`${token.rawName} is given twice.`);
    given.set(spec.name, [...values, valueOf(spec, token)]);
  }
  const wantsHelp = given.has("help");
  const { operand } = command;
  if (operands.length > (operand ? 1 : 0)) throw surplus(command, operands);
  if (operand && !operand.optional && operands.length === 0 && !wantsHelp) {
    const message = `tillkit ${command.name} needs <${operand.name}>: ${operand.summary}`;
    throw new TillkitError("command_operand_invalid", message);
  }
  return {
    operand: operands[0],
    has: (name) => given.has(name),
    get: (name) => given.get(name)?.[0],
    all: (name) => given.get(name) ?? [],
  };
}

interface OptionToken {
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

function valueOf({ value: placeholder, choices }: OptionSpec, token: OptionToken): string {
  const { rawName, value, inlineValue } = token;
  if (placeholder === undefined) {
    if (value !== undefined) throw invalid(`${rawName} is a switch, and takes no value.`);
    return "";
  }
  if (value === undefined) throw invalid(`${rawName} needs a value: ${rawName} <${placeholder}>.`);
  // Most likely the value was forgotten, and this is the next option.
  if (!inlineValue && /^-./.test(value))
    throw invalid(`${rawName} needs a value; for one that begins with a hyphen, write ${rawName}=<value>.`);
  if (choices && !choices.includes(value)) {
    const meant = nearest(value, choices);
    throw invalid(
      `${rawName} knows ${choices.join(", ")}, and not "${value}".${meant ? ` Did you mean ${meant}?` : ""}`,
    );
  }
  return value;
}

function unknownOption(command: Command, rawName: string, specs: readonly OptionSpec[]): never {
  const meant = nearest(
    rawName.replace(/^--?/, ""),
    specs.map(({ name }) => name),
  );
  const hint = meant ? ` Did you mean --${meant}?` : "";
  throw new TillkitError(
    "command_option_unknown",
    `tillkit ${command.name} has no option ${rawName}.${hint}`,
    {
      fix: `See "tillkit help ${command.name}" for its options.`,
    },
  );
}

function surplus(command: Command, operands: readonly string[]): TillkitError {
  const most = command.operand ? `one <${command.operand.name}>` : "no arguments besides its options";
  return new TillkitError(
    "command_operand_invalid",
    `tillkit ${command.name} takes ${most}, and was given ${operands.map((one) => `"${one}"`).join(", ")}.`,
  );
}

function invalid(message: string): TillkitError {
  return new TillkitError("command_option_invalid", message);
}
