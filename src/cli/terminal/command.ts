import { type Readable, type Writable } from "node:stream";
import { type ExitCode } from "./exit-code.js";
import { type Output } from "./output.js";

/** One option of a command. Without `value` it is a switch. */
export interface OptionSpec {
  name: string;
  /** One letter. */
  short?: string;
  /** What stands for its value in the help: `file`, or the choices themselves. */
  value?: string;
  /** The only values that it takes. */
  choices?: readonly string[];
  /** May be given several times. */
  repeated?: boolean;
  /** What it does, and its default, in one sentence or two. */
  summary: string;
}

/** What a command takes besides options. */
export interface OperandSpec {
  name: string;
  summary: string;
  optional?: boolean;
}

/** A command: what its help, its documentation and its arguments are made of, and what it does. */
export interface Command {
  name: string;
  /** One line, without a full stop. */
  summary: string;
  /** Paragraphs of the help. */
  description: readonly string[];
  operand?: OperandSpec;
  options: readonly OptionSpec[];
  examples: readonly { summary: string; command: string }[];
  /** What the exit codes mean here; those that it never ends with are left out. */
  exitCodes: Partial<Record<ExitCode, string>>;
  run(args: Arguments, context: Context): Promise<ExitCode>;
}

/** What a process has, handed in so that a command also runs inside of a test. */
export interface Surroundings {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin. */
  cwd: string;
  /** @default the system's clock */
  now?: () => Date;
  /** Ends commands that run until they are stopped, as Ctrl-C does. */
  readonly signal?: AbortSignal | undefined;
}

/** What a command works with. */
export interface Context extends Omit<Surroundings, "stdout" | "stderr"> {
  output: Output;
  now: () => Date;
}

/** The arguments of one run, checked against the command's own list. */
export interface Arguments {
  readonly operand: string | undefined;
  /** Whether a switch is on. */
  has(name: string): boolean;
  /** The value of an option, or `undefined`. */
  get(name: string): string | undefined;
  /** The values of an option that may be repeated. */
  all(name: string): readonly string[];
}
