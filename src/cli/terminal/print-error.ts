import { type ConfigurationProblem, TillkitError } from "../../errors/index.js";
import { type ExitCode } from "./command.js";
import { type Output } from "./output.js";

/** Prints the error that stopped a command, and returns the exit code. */
export function printError(error: unknown, output: Output): ExitCode {
  // Fields instead of `instanceof`: an error may come from the other copy of the package.
  const given = error as Partial<Record<string, unknown>>;
  const code = typeof given["code"] === "string" ? given["code"] : "unexpected";
  const message = error instanceof Error ? error.message : String(error);
  const fix = typeof given["fix"] === "string" ? given["fix"] : undefined;
  const problems = Array.isArray(given["problems"])
    ? (given["problems"] as ConfigurationProblem[])
    : undefined;
  output.log(`${output.paint("red", "error")} ${code}: ${message}`);
  if (error instanceof TillkitError && error.cause instanceof Error)
    output.log(`  cause: ${messageOf(error.cause)}`);
  if (fix !== undefined) output.log(`  fix: ${fix}`);
  output.printJson({ error: { code, message, ...(fix && { fix }), ...(problems && { problems }) } });
  const isWrongUse = problems !== undefined || /^(command|secret)_/.test(code) || wrongUses.includes(code);
  return isWrongUse ? 2 : 3;
}

/** Codes of the kit that mean, on the command line, that an option is missing or wrong. */
const wrongUses = ["option_invalid", "statement_columns_unclear", "statement_period_missing"];

/** Returns the error's message. An error about several addresses has none: its first inner error is used. */
function messageOf(cause: Error): string {
  const inner = "errors" in cause && Array.isArray(cause.errors) ? (cause.errors as unknown[])[0] : undefined;
  return cause.message || (inner instanceof Error ? inner.message : cause.name);
}
