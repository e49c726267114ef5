import { type ConfigurationProblem, type ErrorCode, errorFixes } from "../errors/index.js";
import { commandSummaries, loadCommand } from "./commands.js";
import { readArguments } from "./terminal/arguments.js";
import { type ExitCode, type ProcessContext } from "./terminal/command.js";
import { commandHelp, describeCommand, errorPage, toolHelp } from "./terminal/help.js";
import { createOutput, type Output } from "./terminal/output.js";
import { readOwnPackage } from "./terminal/own-package.js";
import { readEnvironment } from "./terminal/read-file.js";

/** Runs the command line, and resolves to the exit code. Never rejects, because errors are printed. */
export async function run(argv: readonly string[], context: ProcessContext): Promise<ExitCode> {
  // `--json` is read before the other arguments, so that errors in them are also printed as JSON.
  const output = createOutput(context, beforeOperands(argv).includes("--json"));
  try {
    return await runCommand(argv, context, output);
  } catch (error) {
    return printError(error, output);
  }
}

/** Returns the arguments before `--`. The arguments after `--` are operands, even one such as `--json`. */
function beforeOperands(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end < 0 ? argv : argv.slice(0, end);
}

async function runCommand(
  argv: readonly string[],
  context: ProcessContext,
  output: Output,
): Promise<ExitCode> {
  const start = argv.findIndex((one) => one !== "--json");
  const name = argv[start];
  // `--json` before the command is an option of the command, too.
  const rest = [...argv.slice(0, Math.max(start, 0)), ...argv.slice(start + 1)];
  if (name === undefined || name === "--help" || name === "-h") return printHelp(undefined, output);
  if (name === "help") {
    const [about, code] = rest.filter((one) => one !== "--json" && one !== "--help");
    return about === "errors" ? printErrorHelp(code, output) : printHelp(about, output);
  }
  if (name === "--version" || name === "-v") {
    const { version } = readOwnPackage();
    output.print(version);
    output.printJson({ version });
    return 0;
  }
  const command = await loadCommand(name);
  const args = readArguments(command, rest);
  if (args.has("help")) return printHelp(name, output);
  const { now = () => new Date(), stdin, cwd } = context;
  const env = await readEnvironment(args, context);
  return command.run(args, {
    output,
    stdin,
    env,
    cwd,
    now,
    // Reading the signal stops Ctrl-C from ending the process, so only long-running commands read it.
    get signal() {
      return context.signal;
    },
  });
}

async function printHelp(name: string | undefined, output: Output): Promise<ExitCode> {
  if (name === undefined) {
    output.print(toolHelp(commandSummaries, output));
    output.printJson({ commands: commandSummaries });
  } else {
    const command = await loadCommand(name);
    output.print(commandHelp(command, output));
    output.printJson(describeCommand(command));
  }
  return 0;
}

function printErrorHelp(code: string | undefined, output: Output): ExitCode {
  const text = code === undefined ? Object.keys(errorFixes).join("\n") : errorPage(code);
  output.print(text);
  output.printJson(
    code === undefined ? { errors: errorFixes } : { code, fix: errorFixes[code as ErrorCode], text },
  );
  return 0;
}

function printError(error: unknown, output: Output): ExitCode {
  // `instanceof` would not recognize an error of the package's other copy (ESM or CommonJS).
  const given = error as Partial<Record<string, unknown>>;
  const code = typeof given["code"] === "string" ? given["code"] : "unexpected";
  const message = error instanceof Error ? error.message : String(error);
  const fix = typeof given["fix"] === "string" ? given["fix"] : undefined;
  const problems = Array.isArray(given["problems"])
    ? (given["problems"] as ConfigurationProblem[])
    : undefined;
  output.log(`${output.paint("red", "error")} ${code}: ${message}`);
  if (fix !== undefined) output.log(`  fix: ${fix.replaceAll("\n", "\n    ")}`);
  if (Object.hasOwn(errorFixes, code)) output.log(`  more: tillkit help errors ${code}`);
  output.printJson({ error: { code, message, ...(fix && { fix }), ...(problems && { problems }) } });
  const isWrongUse = problems !== undefined || /^(command|secret)_/.test(code) || wrongUses.includes(code);
  return isWrongUse ? 2 : 3;
}

/** The kit's codes that mean a missing or wrong option on the command line. */
const wrongUses = [
  "option_invalid",
  "query_invalid",
  "resolution_invalid",
  "evidence_missing",
  "evidence_invalid",
  "client_id_invalid",
  "service_id_invalid",
  "reference_invalid",
  "amount_invalid",
  "currency_invalid",
  "statement_columns_unclear",
  "statement_period_missing",
];
