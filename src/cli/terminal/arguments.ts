import { parseArgs } from "node:util";
import { TillkitError } from "../../errors/index.js";
import { type Arguments, type Command, type OptionSpec } from "./command.js";
import { didYouMean } from "../../shared/nearest.js";

type OptionToken = { rawName: string; value?: string | undefined; inlineValue?: boolean | undefined };

/** Parses the arguments after the command's name. Throws `command_option_…` or `command_operand_invalid`. */
export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const specs = command.options;
  const { tokens } = parseArgs({
    args: [...argv],
    // The checks below name the nearest option and give an error code, unlike Node's own checks.
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      specs.map(({ name, short, value }) => {
        const type = value === undefined ? ("boolean" as const) : ("string" as const);
        return [name, { type, multiple: true, ...(short && { short }) }];
      }),
    ),
  });
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value.trim());
    if (token.kind !== "option") continue;
    const spec = specs.find(({ name }) => name === token.name) ?? unknownOption(command, token.rawName);
    const values = given.get(spec.name) ?? [];
    if (values.length > 0 && !spec.repeated) throw optionError(`${token.rawName} is given twice.`);
    given.set(spec.name, [...values, valueOf(spec, token)]);
  }
  checkOperands(command, operands, given.has("help"));
  return {
    operand: operands[0],
    object: operands[1],
    has: (name) => given.has(name),
    get: (name) => given.get(name)?.[0],
    all: (name) => given.get(name) ?? [],
  };
}

/** Options whose spaces are kept, because the commands check these values byte for byte. */
const exactOptions = ["secret", "signature"];

function valueOf({ name, value: placeholder, choices, summary }: OptionSpec, token: OptionToken): string {
  const { rawName, value: given, inlineValue } = token;
  const value = exactOptions.includes(name) ? given : given?.trim();
  if (placeholder === undefined) {
    if (value !== undefined) throw optionError(`${rawName} is a switch, and takes no value.`);
    return "";
  }
  if (value === undefined) throw optionError(`${rawName} needs a value: ${rawName} <${placeholder}>.`);
  // Probably the value was forgotten, and the next option was read as the value.
  if (!inlineValue && /^-./.test(value))
    throw optionError(
      `${rawName} needs a value. If the value begins with a hyphen, write ${rawName}=<value>.`,
    );
  // An empty value is probably an unset shell variable, unless the summary of the option mentions "".
  if (value.trim() === "" && !summary.includes('""'))
    throw optionError(`${rawName} is empty; give a value, or leave it out.`);
  if (choices && !choices.includes(value)) {
    const known = choices.join(", ");
    throw optionError(`${rawName} must be one of ${known}, and not "${value}".${didYouMean(value, choices)}`);
  }
  return value;
}

function unknownOption({ name: command, options }: Command, rawName: string): never {
  const names = options.map(({ name }) => name);
  const hint = didYouMean(rawName.replace(/^--?/, ""), names, "--");
  const fix = `See "tillkit help ${command}" for the options of this command.`;
  throw new TillkitError("command_option_unknown", `tillkit ${command} has no option ${rawName}.${hint}`, {
    fix,
  });
}

function checkOperands(
  { name, operand, object }: Command,
  operands: readonly string[],
  wantsHelp: boolean,
): void {
  if (operands.length > Number(operand !== undefined) + Number(object !== undefined)) {
    const one = operand ? `one <${operand.name}>` : "no arguments besides its options";
    const allowed = object ? `${one} and one <${object.name}>` : one;
    const given = operands.map((each) => `"${each}"`).join(", ");
    const quotes = object && " Put a text with spaces in quotes.";
    throw operandError(`tillkit ${name} takes ${allowed}, but you gave ${given}.${quotes ?? ""}`);
  }
  const blank = [operand, object].find((_, index) => operands[index] === "");
  if (blank) throw operandError(`<${blank.name}> is empty; give a value, or leave it out.`);
  if (operand && !operand.optional && operands.length === 0 && !wantsHelp)
    throw operandError(`tillkit ${name} needs <${operand.name}>: ${operand.summary}`);
}

/** Returns the error for an option with a wrong value. */
export function optionError(message: string, fix?: string): TillkitError {
  return new TillkitError("command_option_invalid", message, { ...(fix !== undefined && { fix }) });
}

/** Returns the error for a wrong operand. */
export function operandError(message: string): TillkitError {
  return new TillkitError("command_operand_invalid", message);
}
