import { type Readable } from "node:stream";
import { type Output, type OutputStreams } from "./output.js";

/** The exit codes of all commands, with their meaning. */
export const exitCodes = {
  0: "The command succeeded, or the answer is yes.",
  1: "The answer is no: the signature does not match, or something was found.",
  2: "The command was used wrongly.",
  3: "The command failed because of a file, a database or the network.",
  130: "The command was interrupted, for example by Ctrl-C.",
} as const;

export type ExitCode = keyof typeof exitCodes;

/** One option of a command. An option without `value` is a switch. */
export interface OptionSpec {
  name: string;
  /** The short name of the option, which is one letter. */
  short?: string;
  /** The placeholder for the value in the help: `file`, or the choices. */
  value?: string;
  /** The only values that the option accepts. */
  choices?: readonly string[];
  /** Whether the option may be given several times. */
  repeated?: boolean;
  /** The effect of the option and its default, in one or two sentences. */
  summary: string;
}

/** A command. The help, the documentation and the parser of the command are made from these fields. */
export interface Command {
  name: string;
  /** A summary of one line, without a full stop. */
  summary: string;
  /** The paragraphs of the help. */
  description: readonly string[];
  /** The argument that the command takes besides its options. */
  operand?: { name: string; summary: string; optional?: boolean };
  /** The argument after the operand, which may be left out. */
  object?: { name: string; summary: string };
  options: readonly OptionSpec[];
  examples: readonly { summary: string; command: string }[];
  /** The exit codes of this command, with their meaning. */
  exitCodes: Partial<Record<ExitCode, string>>;
  run(args: Arguments, context: Context): Promise<ExitCode>;
}

/** The parts of a process that a command uses, passed as an argument so that tests can replace them. */
export interface ProcessContext extends OutputStreams {
  stdin: Readable;
  /** The folder that relative paths start from. */
  cwd: string;
  /** @default the system's clock */
  now?: () => Date;
  /** The signal that ends a running command, as Ctrl-C does. */
  readonly signal?: AbortSignal | undefined;
}

/** The variables of the environment, by name. */
export type Variables = OutputStreams["env"];

/** A command without its name and its summary, which the list of commands contains. */
export interface CommandDefinition extends Omit<Command, "name" | "summary" | "options" | "examples"> {
  /** The summaries of the options. In a key, `<a|b>` allows only these values, and `...` several values. */
  options: Readonly<Record<string, string>>;
  /** The command lines of the examples, by summary. */
  examples: Readonly<Record<string, string>>;
}

const commonOptions = {
  "--json": "Prints JSON on standard output, with one document on each line.",
  "-h, --help": "Shows this help.",
};

/** Returns the fields of a command with the options that all commands have. */
export function withCommonOptions({
  options,
  examples,
  ...others
}: CommandDefinition): Omit<Command, "name" | "summary"> {
  return {
    ...others,
    options: Object.entries({ ...options, ...commonOptions }).map(readOption),
    examples: Object.entries(examples).map(([summary, command]) => ({ summary, command })),
  };
}

/** Reads an option as a command writes it: `-h, --help`, or `--day <day>`. */
export function readOption([written, summary]: [string, string]): OptionSpec {
  const [, short, name = "", value, repeated] =
    /^(?:-(\w), )?--([a-z-]+)(?: <(.+)>)?( \.\.\.)?$/.exec(written) ?? [];
  return {
    name,
    ...(short !== undefined && { short }),
    ...(value !== undefined && { value }),
    ...(value?.includes("|") && { choices: value.split("|") }),
    ...(repeated !== undefined && { repeated: true }),
    summary,
  };
}

/** The context of a command. `env` also has the variables of `--env-file`. */
export interface Context extends Omit<ProcessContext, "stdout" | "stderr"> {
  output: Output;
  now: () => Date;
}

/** The part of the context that is needed to read options, files and variables. */
export type InputContext = Pick<Context, "stdin" | "env" | "cwd" | "output">;

/** The arguments of one run, checked against the command's options. */
export interface Arguments {
  readonly operand: string | undefined;
  readonly object: string | undefined;
  has(name: string): boolean;
  /** Returns the value of an option, or `undefined`. */
  get(name: string): string | undefined;
  /** Returns the values of an option that may be repeated. */
  all(name: string): readonly string[];
}
