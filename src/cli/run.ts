import { TillkitError } from "../errors/index.js";
import { readArguments } from "./terminal/arguments.js";
import { type Command, type Surroundings } from "./terminal/command.js";
import { commands } from "./commands.js";
import { type ExitCode } from "./terminal/exit-code.js";
import { commandHelp, describeCommand, toolHelp } from "./terminal/help.js";
import { nearest } from "./terminal/nearest.js";
import { createOutput, type Output } from "./terminal/output.js";
import { packageFacts } from "./terminal/package-facts.js";
import { tellError } from "./terminal/print-error.js";

/**
 * Runs the command line, and resolves to the code to exit with. Never rejects: what goes wrong is told on the error
 * stream, and with `--json` as `{ "error": … }` on standard output too.
 */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  // Looked for before anything else is read, so that a mistake among the arguments is told to a machine too.
  const output = createOutput(surroundings, argv.includes("--json"));
  try {
    return await runCommand(argv, surroundings, output);
  } catch (error) {
    return tellError(error, output);
  }
}

async function runCommand(
  argv: readonly string[],
  surroundings: Surroundings,
  output: Output,
): Promise<ExitCode> {
  const start = argv.findIndex((one) => one !== "--json");
  const name = argv[start];
  const rest = argv.slice(start + 1);
  if (start < 0 || name === undefined || name === "--help" || name === "-h")
    return showHelp(undefined, output);
  if (name === "help")
    return showHelp(
      rest.find((one) => one !== "--json" && one !== "--help"),
      output,
    );
  if (name === "--version" || name === "-v") {
    output.say(packageFacts.version);
    output.answer({ version: packageFacts.version });
    return 0;
  }
  const command = findCommand(name);
  const args = readArguments(command, rest);
  if (args.has("help")) return showHelp(name, output);
  const { now = () => new Date(), stdin, env, cwd } = surroundings;
  return command.run(args, {
    output,
    stdin,
    env,
    cwd,
    now,
    // Asked for only by commands that go on until they are stopped; Ctrl-C ends the others at once.
    get signal() {
      return surroundings.signal;
    },
  });
}

function showHelp(name: string | undefined, output: Output): ExitCode {
  if (name === undefined) {
    output.say(toolHelp(commands, output));
    output.answer({ commands: commands.map(describeCommand) });
  } else {
    const command = findCommand(name);
    output.say(commandHelp(command, output));
    output.answer(describeCommand(command));
  }
  return 0;
}

function findCommand(name: string): Command {
  const found = commands.find((one) => one.name === name);
  if (found) return found;
  const kind = name.startsWith("-") ? "option" : "command";
  const known = [
    ...commands.map((one) => one.name),
    "help",
    ...(kind === "option" ? ["--help", "--version"] : []),
  ];
  const meant = nearest(name, known);
  throw new TillkitError(
    kind === "option" ? "command_option_unknown" : "command_unknown",
    `tillkit has no ${kind} "${name}".${meant ? ` Did you mean ${meant}?` : ""}`,
  );
}
