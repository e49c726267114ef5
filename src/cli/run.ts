import { TillkitError } from "../errors/index.js";
import { doctor } from "./doctor/command.js";
import { listen } from "./listen/command.js";
import { migrate } from "./migrate/command.js";
import { reconcile } from "./reconcile/command.js";
import { replay } from "./replay/command.js";
import { sandbox } from "./sandbox/command.js";
import { scenario } from "./scenario/command.js";
import { sign } from "./sign/command.js";
import { didYouMean, readArguments } from "./terminal/arguments.js";
import { type Command, type ExitCode, type ProcessContext } from "./terminal/command.js";
import { commandHelp, describeCommand, toolHelp } from "./terminal/help.js";
import { createOutput, type Output } from "./terminal/output.js";
import { readPackageFacts } from "./terminal/package-facts.js";
import { printError } from "./terminal/print-error.js";
import { trigger } from "./trigger/command.js";
import { verify } from "./verify/command.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  sandbox,
  scenario,
  listen,
  trigger,
  sign,
  verify,
  reconcile,
  replay,
  migrate,
  doctor,
];

/**
 * Runs the command line, and resolves to the exit code. Never rejects: an error is printed on standard error, and with
 * `--json` also as `{ "error": … }` on standard output.
 */
export async function run(argv: readonly string[], context: ProcessContext): Promise<ExitCode> {
  // Before the arguments are parsed: an error in them must be printed as JSON too.
  const output = createOutput(context, argv.includes("--json"));
  try {
    return await runCommand(argv, context, output);
  } catch (error) {
    return printError(error, output);
  }
}

async function runCommand(
  argv: readonly string[],
  context: ProcessContext,
  output: Output,
): Promise<ExitCode> {
  const start = argv.findIndex((one) => one !== "--json");
  const name = argv[start];
  const rest = argv.slice(start + 1);
  if (name === undefined || name === "--help" || name === "-h") return printHelp(undefined, output);
  if (name === "help") {
    const about = rest.find((one) => one !== "--json" && one !== "--help");
    return printHelp(about, output);
  }
  if (name === "--version" || name === "-v") {
    const { version } = readPackageFacts();
    output.print(version);
    output.printJson({ version });
    return 0;
  }
  const command = findCommand(name);
  const args = readArguments(command, rest);
  if (args.has("help")) return printHelp(name, output);
  const { now = () => new Date(), stdin, env, cwd } = context;
  return command.run(args, {
    output,
    stdin,
    env,
    cwd,
    now,
    // Read only by commands that run until they are stopped: reading it replaces what Ctrl-C does.
    get signal() {
      return context.signal;
    },
  });
}

function printHelp(name: string | undefined, output: Output): ExitCode {
  if (name === undefined) {
    output.print(toolHelp(commands, output));
    output.printJson({ commands: commands.map(describeCommand) });
  } else {
    const command = findCommand(name);
    output.print(commandHelp(command, output));
    output.printJson(describeCommand(command));
  }
  return 0;
}

function findCommand(name: string): Command {
  const found = commands.find((one) => one.name === name);
  if (found) return found;
  const isOption = name.startsWith("-");
  const known = [...commands.map((one) => one.name), "help", ...(isOption ? ["--help", "--version"] : [])];
  throw new TillkitError(
    isOption ? "command_option_unknown" : "command_unknown",
    `tillkit has no ${isOption ? "option" : "command"} "${name}".${didYouMean(name, known)}`,
  );
}
